#!/usr/bin/env bash
# pkg/sftp: what does a file of results contain after two clients appended a line each (`O_APPEND`)?
#
# Expected: the old lines, then both new ones. SFTP (draft-ietf-secsh-filexfer-02, section 6.3): `SSH_FXF_APPEND`
# shall "force all writes to append data at the end of the file". OpenSSH's server does that.
# Found: the server ignores the flag and writes at the client's offset. The client never asks for the size: its offset
# starts at 0, so the appended line replaces the start of the file. Write and close report success. Clients that
# start at the size which they found on opening, such as Paramiko, lose a line if two of them append.
# Exits 1 if that has changed. Needs apt-get, go, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download openssh-sftp-server 2>/dev/null
dpkg -x openssh-sftp-server_*.deb .
cat >go.mod <<'MOD'
module probe

go 1.24

require github.com/pkg/sftp v1.13.12
MOD
cat >main.go <<'GO'
package main

import (
	"io"
	"os"
	"os/exec"

	"github.com/pkg/sftp"
)

type pipes struct {
	io.Reader
	io.WriteCloser
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// `serve` is a server on the standard input and output; `append SERVER … -- FILE LINE` starts one and appends.
func main() {
	if os.Args[1] == "serve" {
		server := must(sftp.NewServer(pipes{os.Stdin, os.Stdout}))
		if err := server.Serve(); err != nil && err != io.EOF {
			panic(err)
		}
		return
	}
	last := len(os.Args) - 1
	command := exec.Command(os.Args[2], os.Args[3:last-2]...)
	input, output := must(command.StdinPipe()), must(command.StdoutPipe())
	if err := command.Start(); err != nil {
		panic(err)
	}
	client := must(sftp.NewClientPipe(output, input))
	file := must(client.OpenFile(os.Args[last-1], os.O_WRONLY|os.O_APPEND|os.O_CREATE))
	must(file.Write([]byte(os.Args[last] + "\n")))
	if err := file.Close(); err != nil {
		panic(err)
	}
}
GO
GOFLAGS=-mod=mod go build -o probe . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile paramiko==5.1.0
v/bin/python - <<'PYTHON'
import os
import pathlib
import subprocess
import sys

import paramiko

FILE = pathlib.Path("results").resolve()
OLD = ["trial 1: 10 ms", "trial 2: 12 ms"]
NEW = ["trial 3: 11 ms", "trial 4: 13 ms"]
SERVERS = {"OpenSSH": [os.path.abspath("usr/lib/openssh/sftp-server")], "pkg/sftp": ["./probe", "serve"]}


class Pipe:
    """The channel of an SFTP session over the pipes of a server."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def send(self, octets):
        return self.process.stdin.write(octets)

    def recv(self, size):
        return self.process.stdout.read(size)

    def get_name(self):
        return "pipe"

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def by_go(server):
    for line in NEW:
        subprocess.run(["./probe", "append", *server, "--", FILE, line], check=True)


def by_paramiko(server):
    clients = [paramiko.SFTPClient(Pipe(server)) for _ in NEW]
    files = [client.open(str(FILE), "a") for client in clients]
    for file, line in zip(files, NEW):
        file.write(line + "\n")
        file.close()
    for client in clients:
        client.close()


print("pkg/sftp 1.13.12, Paramiko", paramiko.__version__)
found = {}
for client, run in (("pkg/sftp", by_go), ("Paramiko", by_paramiko)):
    for name, server in SERVERS.items():
        FILE.write_text("".join(f"{line}\n" for line in OLD))
        run(server)
        found[client, name] = FILE.read_text().splitlines()
        print(f"two clients of {client}, server of {name}: {found[client, name]}")
right = all(found[client, "OpenSSH"] == OLD + NEW for client in ("pkg/sftp", "Paramiko"))
wrong = found["pkg/sftp", "pkg/sftp"] == [NEW[1], OLD[1]]
wrong &= found["Paramiko", "pkg/sftp"] == [*OLD, NEW[1]]
sys.exit(not (right and wrong))
PYTHON
