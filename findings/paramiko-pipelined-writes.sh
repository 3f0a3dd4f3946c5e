#!/usr/bin/env bash
# Paramiko: does a pipelined SFTP upload to a full disk end in an error?
#
# Expected: yes. `set_pipelined` says: "if there was an error with one of your later writes, an
# exception might be thrown from within `.close` instead of `.write`".
# Found: neither throws, of a file of up to 3 MB (100 writes), nor for the last 3 MB of a larger one. The
# answers are read and forgotten: the data is missing, and the program counts it as written. `put` and
# `putfo` pipeline too; they notice by the size of the file, so with `confirm=False` they do not.
# Exits 1 if that has changed. Needs python3 with venv, and sshd, ssh-keygen (OpenSSH).
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile paramiko==5.1.0
ssh-keygen -q -t ed25519 -N '' -f key
cat >conf <<CONF
HostKey $here/key
AuthorizedKeysFile $here/key.pub
StrictModes no
UsePAM no
PidFile none
LogLevel QUIET
Subsystem sftp $here/sftp
CONF
# A file of at most 512 KiB stands for the full disk: OpenSSH answers both with "Failure".
cat >sftp <<'SFTP'
#!/usr/bin/env bash
trap '' XFSZ
ulimit -f 512
exec "$(ls /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server 2>/dev/null)"
SFTP
chmod +x sftp
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
v/bin/python - "$here" <<'PYTHON'
import getpass
import io
import os
import sys

import paramiko

here = sys.argv[1]
size = 2 << 20
transport = paramiko.Transport(paramiko.ProxyCommand(f"/usr/sbin/sshd -i -f {here}/conf"))
key = paramiko.Ed25519Key.from_private_key_file(f"{here}/key")
transport.connect(username=getpass.getuser(), pkey=key)
sftp = paramiko.SFTPClient.from_transport(transport)


def write(pipelined):
    with sftp.open(f"{here}/file", "wb") as file:
        file.set_pipelined(pipelined)
        for _ in range(size // 32768):
            file.write(bytes(32768))


def put(confirm):
    sftp.putfo(io.BytesIO(bytes(size)), f"{here}/file", confirm=confirm)


print("Paramiko", paramiko.__version__, "to", transport.remote_version)
raised = []
for name, action in (
    ("write", lambda: write(pipelined=False)),
    ("write, pipelined", lambda: write(pipelined=True)),
    ("putfo", lambda: put(confirm=True)),
    ("putfo, confirm=False", lambda: put(confirm=False)),
):
    try:
        action()
        error = None
    except OSError as found:
        error = found
    raised.append(error is not None)
    written = os.path.getsize(f"{here}/file")
    print(f"{name:<20} {written:>7} of {size} octets written, raised: {error!r}")
transport.close()
sys.exit(raised != [True, False, True, False])
PYTHON
