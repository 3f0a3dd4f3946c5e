#!/usr/bin/env bash
# ProFTPD: does a data connection over TLS 1.3 bring the ticket for the next one?
#
# Expected: as many new tickets after an upload as after a download. Data connections must resume TLS
# (ProFTPD's default), and a client should use a ticket once (RFC 8446, appendix C.4).
# Found: a download brings one, an upload none. A client that uses tickets once is refused after as
# many uploads as the control connection brought tickets.
# Exits 1 if that has changed. Needs root (a login changes the user), apt-get, python3, openssl.
set -euo pipefail
here=$(mktemp -d) && trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download proftpd-core proftpd-mod-crypto libhiredis0.14 libmemcached11 \
    libmemcachedutil2 libhashkit2 libpcre2-posix3 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=x 2>/dev/null
mkdir served && chmod 777 served
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "lab:$(openssl passwd -6 Secret-1):65534:65534::$here/served:/bin/sh" >users && chmod 600 users
cat >conf <<CONF
ModulePath "$here/usr/lib/proftpd"
LoadModule mod_tls.c
ServerType standalone
DefaultServer on
DefaultAddress 127.0.0.1
UseIPv6 off
Port $port
User nobody
Group nogroup
PidFile $here/pid
ScoreboardFile $here/scoreboard
AuthOrder mod_auth_file.c
AuthUserFile $here/users
RequireValidShell off
AllowOverwrite on
WtmpLog off
TransferLog none
TLSEngine on
TLSRequired on
TLSRSACertificateFile $here/cert
TLSRSACertificateKeyFile $here/key
CONF
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu
usr/sbin/proftpd --version
usr/sbin/proftpd -n -q -c "$here/conf" 2>/dev/null & server=$!
sleep 2
python3 - "$port" <<'CLIENT'
import ftplib
import io
import ssl
import sys

tickets = 0


def count(connection, direction, version, content, kind, data):
    """Each message of TLS: 4 is a new ticket."""
    global tickets
    tickets += direction == "read" and content == 22 and data[:1] == b"\x04"


class Ftp(ftplib.FTP_TLS):
    """Resumes TLS of the control connection for data."""

    def ntransfercmd(self, command, rest=None):
        connection, size = ftplib.FTP.ntransfercmd(self, command, rest)
        return self.context.wrap_socket(connection, session=self.sock.session), size


context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.minimum_version = ssl.TLSVersion.TLSv1_3
context._msg_callback = count
ftp = Ftp(context=context)
ftp.connect("127.0.0.1", int(sys.argv[1]), 20)
ftp.login("lab", "Secret-1")
ftp.prot_p()
found = {}
for what in ("upload", "download"):
    tickets = 0
    if what == "upload":
        ftp.storbinary("STOR file", io.BytesIO(bytes(6000)))
    else:
        ftp.retrbinary("RETR file", lambda data: None)
    found[what] = tickets
print("new tickets:", found)
sys.exit(found != {"upload": 0, "download": 1})
CLIENT
