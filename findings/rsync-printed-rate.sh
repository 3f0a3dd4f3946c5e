#!/usr/bin/env bash
# rsync: is the rate that it prints (`bytes/sec`) octets over elapsed time?
#
# Expected: yes, so that equal copies that take equally long are printed with equal rates.
# Found: octets over (whole seconds that its clock ticked during the copy + 0.5). A copy within a
# second of the clock is printed with twice its octets a second, however fast it was; if the clock
# ticks once in between, with two thirds of them. So the same copy, at the same speed, differs by
# a factor of three, and no copy under a second is ever printed with more than twice its octets.
# Exits 1 if that has changed. Needs apt-get, python3; takes 10 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download rsync=3.5.0+ds1-0+deb12u1 libpopt0 libxxhash0 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
usr/bin/rsync --version | sed -n 1p
head -c 100000000 /dev/urandom >large
head -c 5000000 large >small
python3 - <<'PYTHON'
import re
import subprocess
import sys
import time


def copy(name, begin, *options):
    """Copy from `begin` after a full second; octets, seconds taken, and the rate printed."""
    subprocess.run(["rm", "-f", "copied"], check=True)
    time.sleep((begin - time.time()) % 1)
    started = time.monotonic()
    command = ["usr/bin/rsync", "--verbose", "--no-h", "--whole-file", *options, name, "copied"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    took = time.monotonic() - started
    sent, received, rate = re.search(
        r"sent (\d+) bytes  received (\d+) bytes  ([\d.]+) bytes/sec", printed
    ).groups()
    return int(sent) + int(received), took, float(rate)


changed = False
print("copy                         took    octets/s  rsync's bytes/sec")
for name, begin, options in (
    ("large", 0.05, ()),
    ("large", 0.05, ()),
    ("small", 0.05, ("--bwlimit=10000",)),
    ("small", 0.75, ("--bwlimit=10000",)),
    ("small", 0.05, ("--bwlimit=10000",)),
    ("small", 0.75, ("--bwlimit=10000",)),
):
    octets, took, rate = copy(name, begin, *options)
    seconds = octets / rate
    print(f"{octets:>9} octets from :{begin:.2f}  {took:.3f} s {octets / took:>11.0f}  ", end="")
    print(f"{rate:>12.2f} = octets / {seconds:.3f} s")
    # The last digits of the rate are rounded.
    changed |= abs(seconds % 1 - 0.5) > 0.001
sys.exit(changed)
PYTHON
