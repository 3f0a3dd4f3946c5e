#!/usr/bin/env bash
# vishvananda/netlink (Go): how many bytes does a token bucket (`Tbf`) with `Buffer: 10000` hold?
#
# Expected: 10,000. For tc, `buffer` is the "Size of the bucket, in bytes" (tc-tbf(8)), `Limit` and `Rate` beside it
# are in bytes, and so is the `Buffer` of the same package's `HtbClassAttrs`.
# Found: 640. `Buffer` is passed on as it is, and the kernel takes it for ticks of 64 ns, the time that the bucket
# lasts. So at 1 MB/s each packet of more than 640 bytes is dropped, and at 1 Gbit/s the bucket holds 80,000 bytes. The
# field has no comment, and no error is returned.
# Exits 1 if that has changed. Needs go, python3, ip, tc (kernel with veth, tbf), and root or user namespaces.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.24

require github.com/vishvananda/netlink v1.3.1
MOD
cat >main.go <<'GO'
// Makes a token bucket of the arguments' rate (bytes per second) and size.
package main

import (
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
)

func main() {
	rate, _ := strconv.ParseUint(os.Args[1], 10, 64)
	size, _ := strconv.ParseUint(os.Args[2], 10, 32)
	link, err := netlink.LinkByName("upper")
	if err != nil {
		panic(err)
	}
	bucket := netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{
			LinkIndex: link.Attrs().Index,
			Handle:    netlink.MakeHandle(1, 0),
			Parent:    netlink.HANDLE_ROOT,
		},
		Rate:   rate,
		Limit:  100_000,
		Buffer: uint32(size),
	}
	if err := netlink.QdiscAdd(&bucket); err != nil {
		panic(err)
	}
}
GO
GOFLAGS=-mod=mod go build -o bucket . 2>log || { cat log && exit 1; }
grep 'vishvananda/netlink ' go.mod
cat >bucket.py <<'PYTHON'
"""Sends datagrams through token buckets, in a network namespace of its own."""

import re
import socket
import subprocess
import sys
import time

SIZE_BYTES, DATAGRAMS = 10_000, 20
for command in (
    "ip link add name upper type veth peer name lower",
    "ip link set upper up",
    "ip link set lower up",
    "ip addr add 10.9.0.1/24 dev upper",
    "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev upper",
):
    subprocess.run(command.split(), check=True)
MAKERS = {
    "tc": f"tc qdisc add dev upper root tbf rate 1MBps burst {SIZE_BYTES} limit 100000",
    "netlink": f"./bucket 1000000 {SIZE_BYTES}",
}
found = {}
for title, command in MAKERS.items():
    subprocess.run(command.split(), check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(DATAGRAMS):
            sender.sendto(bytes(1000), ("10.9.0.2", 9))
    time.sleep(1)
    show = "tc -s qdisc show dev upper".split()
    shown = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    burst = re.search(r"burst (\w+)", shown)[1]
    dropped = int(re.search(r"dropped (\d+)", shown)[1])
    found[title] = burst, dropped
    print(f"{title:<8} bucket of {burst}; of {DATAGRAMS} datagrams of 1000 bytes, {dropped} are dropped")
    subprocess.run("tc qdisc del dev upper root".split(), check=True)
right = found["tc"] == ("10000b", 0)
sys.exit(not (right and found["netlink"][0] == "640b" and found["netlink"][1] >= DATAGRAMS))
PYTHON
unshare --map-root-user --net python3 bucket.py
