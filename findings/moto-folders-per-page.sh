#!/usr/bin/env bash
# moto: how often does a listing of a bucket with `Delimiter="/"` name a folder?
#
# Expected: once, as in S3 ("These groups are counted as one result against the max-keys limitation. These
# keys are not returned elsewhere in the response") and in moto's own ListObjectsV2.
# Found: ListObjects (version 1) names every folder on every page. At 100 keys a page, 250 files and two folders
# take three pages, and each folder appears three times; pages also exceed `MaxKeys`. rclone uses version 1
# with unknown providers and prints both folders three times. Tests against moto count folders that
# do not exist, or hide that a client counts them twice.
# Exits 1 if that has changed. Needs apt-get, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download rclone=1.60.1+dfsg-2+b5 2>/dev/null
dpkg -x rclone_*.deb .
python3 -m venv v && v/bin/pip -qq install --no-compile "moto[s3,server]==5.2.5" boto3==1.44.8
port=$(python3 -c '
import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
v/bin/moto_server -H 127.0.0.1 -p "$port" >/dev/null 2>&1 &
unset AWS_CA_BUNDLE
export HOME=$here
v/bin/python - "$port" <<'PYTHON'
import collections
import os
import socket
import subprocess
import sys
import time
from importlib.metadata import version

import boto3
from botocore.config import Config

KEYS = ["a/file", "b/file", *(f"file-{number:04}" for number in range(250))]
PAGES = {"PageSize": 100}
port = int(sys.argv[1])
for _ in range(600):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{port}",
    aws_access_key_id="key",
    aws_secret_access_key="secret",
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}),
)
client.create_bucket(Bucket="bucket")
for key in KEYS:
    client.put_object(Bucket="bucket", Key=key, Body=b"")

print("moto", version("moto"), "boto3", boto3.__version__)
found = {}
for api in ("list_objects", "list_objects_v2"):
    folders = collections.Counter()
    sizes = []
    files = 0
    for page in client.get_paginator(api).paginate(Bucket="bucket", Delimiter="/", PaginationConfig=PAGES):
        prefixes = [entry["Prefix"] for entry in page.get("CommonPrefixes", [])]
        folders.update(prefixes)
        files += len(page.get("Contents", []))
        sizes.append(len(page.get("Contents", [])) + len(prefixes))
    found[api] = dict(folders), files
    print(f"{api:<16} pages of {sizes}: {files} files, folders {dict(folders)}")

settings = {
    "TYPE": "s3",
    "PROVIDER": "Other",
    "ENDPOINT": f"http://127.0.0.1:{port}",
    "ACCESS_KEY_ID": "key",
    "SECRET_ACCESS_KEY": "secret",
    "REGION": "us-east-1",
}
environment = os.environ | {f"RCLONE_CONFIG_MOTO_{name}": value for name, value in settings.items()}
command = ["usr/bin/rclone", "lsf", "--dirs-only", "--s3-list-chunk", "100", "moto:bucket"]
result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
print("rclone 1.60.1 lsf --dirs-only:", *result.stdout.split())
once, thrice = {"a/": 1, "b/": 1}, {"a/": 3, "b/": 3}
right = found["list_objects_v2"] == (once, 250)
wrong = found["list_objects"] == (thrice, 250)
sys.exit(not (right and wrong and result.stdout.split() == ["a/"] * 3 + ["b/"] * 3))
PYTHON
