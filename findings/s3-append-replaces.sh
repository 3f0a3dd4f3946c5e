#!/usr/bin/env bash
# moto (Python) and gofakes3 (Go), S3 servers: what is left of an object of 3000 bytes after 2000 are appended?
#
# Expected: 5000 bytes, or an error and the 3000. S3's PutObject: `x-amz-write-offset-bytes` is the "offset for appending
# data to existing objects" and must be equal to the size of the object. S3 refuses it where it cannot append.
# Found: the 2000 alone, and 200 (success). Both servers ignore the header, and so a wrong offset, too.
# Exits 1 if that has changed. Needs go, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.25.0

require github.com/johannesboyne/gofakes3 v1.2.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net"
	"net/http"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		err = http.Serve(listener, gofakes3.New(s3mem.New()).Server())
	}
	panic(err)
}
GO
GOFLAGS=-mod=mod go build -o server . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile 'moto[s3,server]==5.2.5' boto3==1.44.8
moto=$(python3 -c '
import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
v/bin/moto_server -H 127.0.0.1 -p "$moto" >/dev/null 2>&1 &
exec 3< <(exec ./server 2>/dev/null)
trap 'kill $(jobs -p) $! 2>/dev/null || true; rm -rf "$here"' EXIT
read -r gofakes3 <&3
unset AWS_CA_BUNDLE
export HOME=$here
v/bin/python - "$moto" "$gofakes3" <<'PYTHON'
import socket
import sys
import time
from importlib.metadata import version

import boto3
from botocore.config import Config

OLD, NEW = b"o" * 3000, b"n" * 2000
OFFSETS = {"the object's size": 3000, "less": 1000, "more": 4000}

print("moto", version("moto"), "and gofakes3 1.2.0, asked by boto3", version("boto3"))
replaced = []
for server, port in zip(("moto", "gofakes3"), map(int, sys.argv[1:])):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:  # until the server listens
            time.sleep(0.1)
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    client.create_bucket(Bucket="bucket")
    for title, offset in OFFSETS.items():
        client.put_object(Bucket="bucket", Key="log", Body=OLD)
        reply = client.put_object(Bucket="bucket", Key="log", Body=NEW, WriteOffsetBytes=offset)
        status = reply["ResponseMetadata"]["HTTPStatusCode"]
        left = client.get_object(Bucket="bucket", Key="log")["Body"].read()
        print(f"{server:<9} at {offset} ({title}): {status}, {left.count(b'o')} old bytes and {left.count(b'n')} new ones")
        replaced.append(status == 200 and left == NEW)
sys.exit(not all(replaced))
PYTHON
