#!/usr/bin/env bash
# willscott/go-nfs (`rclone serve nfs` and others): are data on disk when it answers a synced WRITE or a COMMIT?
#
# Expected: yes. With FILE_SYNC "the server must commit the data written plus all file system metadata to stable storage
# before returning results", and COMMIT does the same for earlier writes (RFC 1813, sections 3.3.7 and 3.3.21).
# Found: no. go-nfs never calls fsync. It even reports unstable writes as committed (FILE_SYNC), so that a client has no
# reason to send COMMIT or to keep a copy. A power failure can lose data that the client has synced, and a comparison
# of servers compares one that waits for the disk with one that does not.
# Exits 1 if that has changed. Needs go, strace, python3.
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
strace -D -f -qq -e trace=openat,write,pwrite64,fsync,fdatasync,sync,syncfs -o calls ./server "$port" files 2>log &
grep 'go-nfs' go.mod | sed -n 1p
cat >client.py <<'PYTHON'
"""A client of NFS version 3."""

import socket
import struct
import time

MOUNT, NFS = 100005, 100003
UNCHECKED = 0
UNSTABLE, FILE_SYNC = 0, 2


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

    def create(self, name):
        """Sets the mode. Returns the status."""
        attributes = struct.pack(">7I", 1, 0o644, 0, 0, 0, 0, 0)
        reply = self.call(NFS, 8, opaque(self.root) + opaque(name) + struct.pack(">I", UNCHECKED) + attributes)
        return struct.unpack_from(">I", reply)[0]

    def write(self, handle, offset, octets, stable):
        reply = self.call(NFS, 7, opaque(handle) + struct.pack(">QII", offset, len(octets), stable) + opaque(octets))
        status, (_, committed) = struct.unpack_from(">I", reply)[0], struct.unpack(">II", reply[-16:-8])
        return status, committed

    def commit(self, handle):
        return struct.unpack_from(">I", self.call(NFS, 21, opaque(handle) + struct.pack(">QI", 0, 0)))[0]
PYTHON
cat >sync.py <<'PYTHON'
import pathlib
import re
import sys

from client import FILE_SYNC, UNSTABLE, Client

OCTETS = b"x" * 4096

client = Client(int(sys.argv[1]))
print(f"CREATE: status {client.create(b'file')}")
handle = client.lookup(b"file")
answers = []
for title, stable in (("UNSTABLE", UNSTABLE), ("FILE_SYNC", FILE_SYNC)):
    answers.append(client.write(handle, 0, OCTETS, stable))
    print(f"WRITE, {title}: status {answers[-1][0]}, committed {answers[-1][1]} (2: FILE_SYNC)")
committed = client.commit(handle)
print(f"COMMIT: status {committed}")
calls = pathlib.Path("calls").read_text()
writes = len(re.findall(r"write\w*\(\d+, \"x{16}", calls))
opened = re.findall(r'openat\([^"]*"[^"]*files/file", ([A-Z_|]+)', calls)
syncs = len(re.findall(r"(fsync|fdatasync|sync|syncfs)\(", calls))
print(f"the server's system calls: file opened with {', '.join(opened)}; {writes} writes, {syncs} syncs")
wrong = answers == [(0, FILE_SYNC)] * 2 and committed == 0 and writes == 2 and syncs == 0
sys.exit(not (wrong and opened and not any("SYNC" in flags for flags in opened)))
PYTHON
python3 sync.py "$port"
