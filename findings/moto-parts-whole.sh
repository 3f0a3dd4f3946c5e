#!/usr/bin/env bash
# moto: what does a download of an S3 object by its parts (`PartNumber`) contain?
#
# Expected: each part once. The reference of GetObject: "Effectively performs a 'ranged' GET request for the part
# specified." HEAD of moto has the lengths of the parts, and `PartsCount`.
# Found: GET returns the whole object for each part, with 200 and without `PartsCount`. The three parts of an object of
# 11 MB become 33 MB, without an error. By ranges of bytes (`Range`), the same download is right.
# Exits 1 if that has changed. Needs python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile 'moto[s3,server]==5.2.5' boto3==1.44.8
AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_EC2_METADATA_DISABLED=true v/bin/python - <<'PYTHON'
import logging
import sys

import boto3
import moto
from moto.server import ThreadedMotoServer

MIB = 1 << 20
PARTS = [b"a" * 5 * MIB, b"b" * 5 * MIB, b"c" * (MIB // 2)]
WHOLE = b"".join(PARTS)
OBJECT = {"Bucket": "results", "Key": "capture"}

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
host, port = server.get_host_and_port()
client = boto3.client("s3", region_name="us-east-1", endpoint_url=f"http://{host}:{port}")
client.create_bucket(Bucket=OBJECT["Bucket"])
upload = {**OBJECT, "UploadId": client.create_multipart_upload(**OBJECT)["UploadId"]}
tags = [client.upload_part(**upload, PartNumber=n, Body=part)["ETag"] for n, part in enumerate(PARTS, 1)]
listed = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
client.complete_multipart_upload(**upload, MultipartUpload={"Parts": listed})

print("moto", moto.__version__)
print("part    uploaded       HEAD         GET")
found = []
start = total = 0
for number, part in enumerate(PARTS, 1):
    head = client.head_object(**OBJECT, PartNumber=number)
    answer = client.get_object(**OBJECT, PartNumber=number)
    body = answer["Body"].read()
    total += len(body)
    ranged = client.get_object(**OBJECT, Range=f"bytes={start}-{start + len(part) - 1}")["Body"].read()
    start += len(part)
    found.append((head["ContentLength"] == len(part), ranged == part, body == WHOLE))
    print(f"{number:>4} {len(part):>12,} {head['ContentLength']:>10,} {len(body):>11,}", end="")
    print(f"  PartsCount {head.get('PartsCount')} by HEAD, {answer.get('PartsCount')} by GET")
print(f"object: {len(WHOLE):,} bytes; by parts: {total:,}")
server.stop()
sys.exit(not found == [(True, True, True)] * 3)
PYTHON
