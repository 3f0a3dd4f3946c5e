#!/usr/bin/env bash
# ftp-srv: what does a file contain after an interrupted upload was resumed?
#
# Expected: the whole file: the part that had arrived, then the rest. ftp-srv accepts `REST` with 350 and ends
# the upload with 226.
# Found: zeros instead of the part that had arrived. ftp-srv empties the file before it writes the rest at its
# offset. The size is right, so the client (lftp with `put -c`) reports success, and mirrors that
# compare sizes never notice. Resumed downloads are right.
# Exits 1 if that has changed. Needs apt-get, npm, node, python3.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
npm install --silent --no-audit --no-fund --prefix . ftp-srv@4.6.3 >/dev/null 2>&1
apt-get -qq download lftp=4.9.2-2+b1 2>/dev/null
dpkg -x lftp_*.deb .
node -p '"ftp-srv " + require("ftp-srv/package.json").version'
usr/bin/lftp --version | sed -n 1p
mkdir server local
read -r port first last < <(python3 -c '
import socket
port = socket.create_server(("127.0.0.1", 0)).getsockname()[1]
print(port, 20000 + port % 10000, 20050 + port % 10000)')
node -e '
const { FtpSrv } = require("ftp-srv");
const silent = Object.fromEntries(["trace", "debug", "info", "warn", "error"].map((it) => [it, () => {}]));
silent.child = () => silent;
const [port, first, last] = process.argv.slice(1).map(Number);
const server = new FtpSrv({
  url: `ftp://127.0.0.1:${port}`, anonymous: true, log: silent,
  pasv_url: "127.0.0.1", pasv_min: first, pasv_max: last,
});
server.on("login", (_, allow) => allow({ root: "server" }));
server.listen().then(() => console.log("ready"));' "$port" "$first" "$last" >ready &
for _ in {1..100}; do
    [ -s ready ] && break
    sleep 0.1
done
python3 -c '
import random
whole = random.Random(1).randbytes(1_000_000)
open("local/file", "wb").write(whole)
open("server/file", "wb").write(whole[:600_000])
open("server/download", "wb").write(whole)
open("local/download", "wb").write(whole[:600_000])'
export HOME=$here
usr/bin/lftp -c "set net:max-retries 1; set net:timeout 10; set xfer:log false
    open ftp://127.0.0.1:$port; lcd local; put -c file; get -c download" && echo "lftp reports success"
python3 - <<'PYTHON'
import pathlib
import sys

whole, resumed = (pathlib.Path(f"{side}/file").read_bytes() for side in ("local", "server"))
download = pathlib.Path("local/download").read_bytes()
print(f"1,000,000 bytes, of which 600,000 had arrived: now {len(resumed):,}")
print(f"  the first 600,000 have {resumed[:600_000].count(0):,} zeros, ", end="")
print(f"{whole[:600_000].count(0):,} before")
print("  the rest is", "right" if resumed[600_000:] == whole[600_000:] else "wrong")
print("the resumed download is", "right" if download == whole else "wrong")
sys.exit(not (resumed == bytes(600_000) + whole[600_000:] and download == whole))
PYTHON
