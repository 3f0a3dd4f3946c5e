#!/usr/bin/env bash
# s3rver: what does a GET with `Range: bytes=-8` return?
#
# Expected: the last eight bytes, as HTTP and S3 define it. Readers of Parquet, ZIP and Zarr use such ranges to
# fetch the index at the end of an object.
# Found: the first nine bytes, with status 206 and `Content-Range: bytes 0-8`. `bytes=0-0`, the first byte, returns
# the whole object. Other ranges are right. A test against s3rver thus reads wrong or far more data
# than the same code reads from S3.
# Exits 1 if that has changed. Needs npm, node, python3 with venv.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . s3rver@3.7.1 >/dev/null 2>&1
python3 -m venv v && v/bin/pip -qq install --no-compile boto3==1.44.8
mkdir data
node -e '
const S3rver = require("s3rver");
new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory: "data" })
  .run()
  .then((server) => console.log(server.port ?? server.address().port));' >port &
for _ in {1..100}; do
    [ -s port ] && break
    sleep 0.1
done
v/bin/python - "$(cat port)" <<'PYTHON'
import json
import sys

import boto3
from botocore.config import Config

with open("node_modules/s3rver/package.json") as file:
    print("s3rver", json.load(file)["version"])
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{sys.argv[1]}",
    aws_access_key_id="S3RVER",
    aws_secret_access_key="S3RVER",
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}),
)
content = b"0123456789abcdefghij"
client.create_bucket(Bucket="bucket")
client.put_object(Bucket="bucket", Key="object", Body=content)
print("an object of", content.decode())
found = {}
for asked, expected in (
    ("bytes=4-7", content[4:8]),
    ("bytes=12-", content[12:]),
    ("bytes=-8", content[-8:]),
    ("bytes=0-0", content[:1]),
):
    answer = client.get_object(Bucket="bucket", Key="object", Range=asked)
    found[asked] = answer["Body"].read()
    print(f"{asked:<10} {answer['ContentRange']:<14} {found[asked].decode():<20} ", end="")
    print("as expected" if found[asked] == expected else f"expected {expected.decode()}")
right = found["bytes=4-7"] == content[4:8] and found["bytes=12-"] == content[12:]
sys.exit(not (right and found["bytes=-8"] == content[:9] and found["bytes=0-0"] == content))
PYTHON
