#!/usr/bin/env bash
# fio: what is the rate of a group whose jobs start at different times (`startdelay`, `wait_for`)?
#
# Expected: the octets of the group over the time from its first to its last; never more than was moved
# in any second.
# Found: the octets of all jobs over the time of the longest job alone, as if all had run at once. Four
# clients that take turns at 10 MiB/s are reported with 40 MiB/s, in the summary and in the JSON of
# `group_reporting`, with samples (bw_min, bw_max, bw_mean) to match. So a test that adds clients one
# by one, or clients that finish early, reports more than the server ever gave.
# Exits 1 if that has changed. Needs apt-get, python3; takes 20 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download fio=3.33-3 libaio1 libboost-thread1.74.0 libdaxctl1 libfmt9 libgfapi0 libgfrpc0 \
    libgfxdr0 libglusterfs0 libibverbs1 libnbd0 libndctl6 libnuma1 libpmem1 libpmemblk1 librados2 \
    librbd1 librdmacm1 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu:$here/usr/lib/x86_64-linux-gnu/ceph
usr/bin/fio --version
python3 - <<'PYTHON'
import json
import subprocess
import sys
import time

# No file or network takes part: the engine "null" moves nothing, at the rate asked for.
TURN = "[global]\nioengine=null\nrw=write\nbs=64k\nsize=20m\nrate=10m\ngroup_reporting\n"
GROUPS = {
    "one client": "[a]\n",
    "four, startdelay": "[a]\n[b]\nstartdelay=2\n[c]\nstartdelay=4\n[d]\nstartdelay=6\n",
    "four, wait_for": "[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nwait_for=c\n",
}
MIB = 1 << 20
rates = []
for name, jobs in GROUPS.items():
    with open("jobs", "w") as file:
        file.write(TURN + jobs)
    started = time.monotonic()
    command = ["usr/bin/fio", "--output-format=json,normal", "--output=found", "jobs"]
    subprocess.run(command, check=True)
    took = time.monotonic() - started
    with open("found") as file:
        text = file.read()
    [group] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]["jobs"]
    wrote = group["write"]
    rates.append(wrote["bw_bytes"] / MIB)
    print(f"{name}: {wrote['io_bytes'] / MIB:.0f} MiB in {took:.1f} s")
    print(f"  fio: bw {rates[-1]:.1f} MiB/s, bw_min {wrote['bw_min'] / 1024:.1f}, ", end="")
    print(f"bw_max {wrote['bw_max'] / 1024:.1f}, runtime {wrote['runtime'] / 1000:.1f} s")
    print(" ", text[text.index("  WRITE:") :].strip())
sys.exit(not (9 < rates[0] < 11 and all(36 < rate < 44 for rate in rates[1:])))
PYTHON
