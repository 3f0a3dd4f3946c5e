#!/usr/bin/env bash
# willscott/go-nfs (`rclone serve nfs` and others): what is left of a file if a second client opens it to append, and
# sends CREATE since it does not know yet that the first one made it?
#
# Expected: all of it. UNCHECKED means "without checking for the existence of a duplicate file" (RFC 1813, section
# 3.3.8). Version 4 adds that the attributes of a file that exists "are not used, except that when" a size of zero is
# set, "the existing file is truncated" (RFC 8881, section 18.16.3). The request sets no size.
# Found: nothing, with status 0 (success). go-nfs creates the file anew, whatever the request sets. So if two hosts
# start one log at the same time, the second erases the lines of the first. It refuses GUARDED, as it should.
# Exits 1 if that has changed. Needs go, python3.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here" && mkdir files
cat >go.mod <<'MOD'
module probe

go 1.24

require (
	github.com/go-git/go-billy/v5 v5.6.0
	github.com/willscott/go-nfs v0.0.4
)
MOD
cat >main.go <<'GO'
package main

import (
	"net"
	"os"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	files := helpers.NewNullAuthHandler(osfs.New(os.Args[2]))
	panic(nfs.Serve(listener, helpers.NewCachingHandler(files, 1024)))
}
GO
GOFLAGS=-mod=mod go build -o server . 2>log || { cat log && exit 1; }
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
./server "$port" files 2>log &
grep 'go-nfs' go.mod | sed -n 1p
cat >client.py <<'PYTHON'
"""A client of NFS version 3."""

import socket
import struct
import time

MOUNT, NFS = 100005, 100003
UNCHECKED, GUARDED = 0, 1


def opaque(octets):
    return struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)


class Client:
    def __init__(self, port):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        self.calls = 0
        self.root = self.handle(self.call(MOUNT, 1, opaque(b"/")))

    @staticmethod
    def handle(reply):
        (octets,) = struct.unpack_from(">I", reply, 4)
        return reply[8 : 8 + octets]

    def call(self, program, procedure, arguments):
        """The reply's results, from their status on."""
        self.calls += 1
        credential = opaque(struct.pack(">I", 0) + opaque(b"client") + struct.pack(">III", 0, 0, 0))
        call = struct.pack(">7I", self.calls, 0, 2, program, 3, procedure, 1) + credential + bytes(8) + arguments
        self.socket.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
        (octets,) = struct.unpack(">I", self.socket.recv(4, socket.MSG_WAITALL))
        return self.socket.recv(octets & 0x7FFFFFFF, socket.MSG_WAITALL)[24:]

    def lookup(self, name):
        return self.handle(self.call(NFS, 3, opaque(self.root) + opaque(name)))

    def create(self, name, how, size=None):
        """Sets the mode, and the size if it is given. Returns the status."""
        attributes = struct.pack(">IIII", 1, 0o644, 0, 0)
        attributes += struct.pack(">I", 0) if size is None else struct.pack(">IQ", 1, size)
        attributes += struct.pack(">II", 0, 0)
        reply = self.call(NFS, 8, opaque(self.root) + opaque(name) + struct.pack(">I", how) + attributes)
        return struct.unpack_from(">I", reply)[0]

    def write(self, handle, offset, octets, stable):
        reply = self.call(NFS, 7, opaque(handle) + struct.pack(">QII", offset, len(octets), stable) + opaque(octets))
        status, (_, committed) = struct.unpack_from(">I", reply)[0], struct.unpack(">II", reply[-16:-8])
        return status, committed
PYTHON
cat >append.py <<'PYTHON'
import pathlib
import sys

from client import GUARDED, UNCHECKED, Client

log = pathlib.Path("files/log")
first, second = (Client(int(sys.argv[1])) for _ in range(2))
print(f"first client: CREATE, status {first.create(b'log', UNCHECKED)}")
status, _ = first.write(first.lookup(b"log"), 0, b"first client's lines\n", 2)
print(f"first client: WRITE, status {status}; the file holds {log.read_bytes()}")
if log.read_bytes() != b"first client's lines\n":
    sys.exit("the file is not written")
guarded = second.create(b"log", GUARDED)
kept = log.read_bytes()
print(f"second client: CREATE, GUARDED: status {guarded} (17: exists); the file holds {kept}")
unchecked = second.create(b"log", UNCHECKED)
left = log.read_bytes()
print(f"second client: CREATE, UNCHECKED, no size given: status {unchecked}; the file holds {left}")
sys.exit(not (guarded == 17 and kept.startswith(b"first") and unchecked == 0 and left == b""))
PYTHON
python3 append.py "$port"
