"""
Seeds of what the other end of a file service says: `make_seeds.py` writes them.

The first octets of each say how it is fed (`tests/fuzz_checks/` of `crates/clients` and
`crates/servers/src`), the rest is as on the wire.
"""

from __future__ import annotations

import hashlib
import hmac
import struct

from seed_parts import part

# Pieces of so many octets, less one: the second octet of most, the first of FTP.
PIECES = b"\x06"
ATTRIBUTES = struct.pack(">5I5Q6I", 1, 0o644, 1, 0, 0, 11, 4096, 0, 1, 4, *(6 * (5,)))


def word(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def opaque(octets: bytes) -> bytes:
    return word(len(octets)) + octets + bytes(-len(octets) % 4)


def string(octets: bytes) -> bytes:
    return word(len(octets)) + octets


def ftp_answers() -> dict[str, bytes]:
    texts = {
        "greeting": "220 ready\r\n230-Welcome\r\nto this\r\n230 all\r\n",
        "features": "211-There is:\r\n SIZE\r\n MLST type*;\r\n UTF8\r\n211 End\r\n",
        "refusals": "550 No such file\r\n452 No space left\r\n522 not resumed\r\n421 bye\r\n",
        "passive": "229 Come in (|||6446|)\r\n227 Come in (127,0,0,1,18,52)\r\n",
        "directory": '257 "/a ""b""" is where you are\r\n',
        "no-answer": "SSH-2.0-elsewhere\r\n",
        "no-end": "230-Welcome\r\n230",
        "endless": 600 * "230-\r\n",
        "line-too-long": f"220 {4093 * 'x'}\r\n220 {5000 * 'x'}\r\n",
        "mlsd": "type=cdir; .\r\ntype=dir;size=1; in\r\nType=file;Size=12;modify=1;  a b\r\n",
        "mlsd-path": "type=file;size=1; ../../etc/passwd\r\n",
        "list": "total 8\r\n-rw-r--r-- 1 a b 12 Nov  1 10:00 a  b\r\ndrwx 2 0 0 0 Jan 5 2025 c\r\n",
        "list-of-dos": "11-21-26  10:00AM  <DIR>  dir one\r\n11-21-26  10:00AM  1234 file\r\n",
    }
    return {name: PIECES + text.encode() for name, text in texts.items()}


def http_answers() -> dict[str, bytes]:
    ok, range_of = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 206 Partial\r\nContent-Range: bytes"
    chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    heads = {
        "length": ok + "Content-Length: 5\r\n\r\nocted",
        "length-too-long": ok + "Content-Length: 18446744073709551615\r\n\r\nfew",
        "lengths": ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nocted",
        "chunks": chunked + "4;a=b\r\nWiki\r\n0A \r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        "chunk-too-long": chunked + "ffffffffffffffff\r\nfew",
        "both": ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "until-close": "HTTP/1.0 200 OK\r\nServer: old\r\n\r\n" + 3000 * "x",
        "interim": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "more-than-said": ok + "Content-Length: 2\r\n\r\nfew",
        "range": range_of + " 2-6/9\r\nContent-Length: 5\r\n\r\nocted",
        "no-http": "SSH-2.0-elsewhere\r\n",
    }
    properties = "<D:propstat><D:prop>{}</D:prop></D:propstat>"
    response = f"<D:response><D:href>{{}}</D:href>{properties}</D:response>"
    entries = [
        ("/a%20b/", "<D:resourcetype><D:collection/></D:resourcetype>"),
        ("http://h:8/a%20b/x&amp;%25", "<D:getcontentlength>17</D:getcontentlength>"),
        ("/a%20b/in/", "<D:resourcetype><D:collection/></D:resourcetype>"),
    ]
    multistatus = '<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{}</D:multistatus>'
    page = (
        "<ListBucketResult><Contents><Key>a b/{}</Key><Size>17</Size></Contents>"
        "<CommonPrefixes><Prefix>a b/in/</Prefix></CommonPrefixes><IsTruncated>true</IsTruncated>"
        "<NextContinuationToken>1ue==</NextContinuationToken></ListBucketResult>"
    )
    error = "<Error><Code>{}</Code><Message>not &#x7; here</Message></Error>"
    listing = multistatus.format("".join(response.format(*entry) for entry in entries))
    documents = {
        "multistatus": listing,
        "multistatus-above": multistatus.format(response.format("/a%20b/..", entries[1][1])),
        "bucket": page.format("x&amp;y "),
        "bucket-above": page.format(".."),
        "no-such-key": error.format("NoSuchKey"),
        "skewed": error.format("RequestTimeTooSkewed"),
        "entity": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "deep": 40 * "<a>",
        "percent": "/a%20b/%C3%BC%27",
    }
    seeds = {name: b"\x01" + PIECES + text.encode() for name, text in heads.items()}
    seeds["to-head"] = b"\x03" + PIECES + heads["length"].split("oct")[0].encode()
    seeds["listing-in-chunks"] = b"\x01" + PIECES + (
        chunked + f"{len(listing):x}\r\n{listing}\r\n0\r\n\r\n"
    ).encode()  # fmt: skip
    return seeds | {name: b"\x00" + PIECES + text.encode() for name, text in documents.items()}


def nfs_answers() -> dict[str, bytes]:
    def reply(result: bytes, accepted: tuple[int, ...] = (0,)) -> bytes:
        return word(5, 1, 0, 0, 0, *accepted) + result

    def fragments(*parts: bytes) -> bytes:
        lasts = [*[4] * (len(parts) - 1), 1]
        framed = (bytes([last]) + part(octets) for last, octets in zip(lasts, parts, strict=True))
        return b"\x01" + PIECES + b"".join(framed)

    there, none = word(1) + ATTRIBUTES, word(0)
    handle = word(1) + opaque(b"h")
    entry = word(1) + bytes(8) + opaque(b"name") + bytes(7) + b"\x09" + there + handle
    data = there + word(11, 1) + opaque(b"some octets")
    limits = none + word(1 << 20, 1 << 20, 1, 1 << 20, 1 << 20, 1, 1)
    return {
        "attributes": fragments(reply(ATTRIBUTES)),
        "page": fragments(reply(there + bytes(8) + 2 * entry + word(0, 1))),
        "empty-page": fragments(reply(none + bytes(8) + word(0, 0))),
        "data": fragments(reply(data)),
        "data-too-long": fragments(reply(none + word(1 << 20, 1, 1 << 20))),
        "limits": fragments(reply(limits)),
        "root": fragments(reply(word(0) + opaque(b"root") + word(1, 1))),
        "root-of-many-flavors": fragments(reply(word(0) + opaque(b"root") + word(2**32 - 1))),
        "in-fragments": fragments(word(5, 1), word(0, 0, 0, 0), data),
        "no-version": fragments(reply(word(2, 4), (2,))),
        "denied": fragments(word(5, 1, 1, 1, 5)),
        "two-answers": fragments(reply(data)) + fragments(reply(b""))[2:],
        "claims-all": b"\x00" + PIECES + word(2**32 - 1) + b"few",
        "claims-a-megabyte": b"\x00" + PIECES + word(2**31 + 2**20) + b"few",
        "empty-fragment": b"\x00" + PIECES + word(0) + word(2**31),
    }


def nfs_calls() -> dict[str, bytes]:
    """How it is served, then calls: which, and with what arguments."""

    def handle(number: int = 3) -> bytes:
        return opaque(bytes(8 * [7]) + number.to_bytes(8, "big"))

    def call(kind: int, *arguments: bytes) -> bytes:
        return bytes([kind]) + part(b"".join(arguments))

    file, new = opaque(b"file"), opaque(b"new")
    plain = word(1, 0o600, 0, 0, 0, 0, 0)
    look = call(3, handle(), file)
    write = call(7, handle(4), bytes(8), word(4, 2), opaque(b"data"))
    page = bytes(16) + word(4096)
    changes = (
        look + write + call(8, handle(), new, word(0), plain)
        + call(9, handle(), opaque(b"d"), plain)
        + call(14, handle(), new, handle(), opaque(b"newer")) + call(12, handle(), file)
        + call(13, handle(), opaque(b"d")) + call(2, handle(), plain, word(0))
    )  # fmt: skip
    seeds = {
        "mount": call(201, opaque(b"/lanlab")) + call(202) + call(203, opaque(b"/")) + call(205),
        "look": call(0) + look + call(1, handle(4)) + call(4, handle(4), word(63)),
        "read": look + call(6, handle(4), bytes(8), word(100)),
        "read-far": look + call(6, handle(4), b"\xff" * 8, word(2**32 - 1)),
        "lists": call(16, handle(), page) + call(17, handle(), page, word(4096)),
        "list-too-small": call(16, handle(), bytes(16), word(9)),
        "write": write + look + write + call(21, handle(4), bytes(12)),
        "write-far": look + call(7, handle(4), b"\x7f" + b"\xff" * 7, word(4, 0), opaque(b"data")),
        "changes": changes,
        "create-exclusive": 2 * call(8, handle(), new, word(2), b"verifier"),
        "set": look + call(2, handle(4), word(1, 0, 0, 0, 1, 0, 99, 2, 5, 5, 1), word(0)),
        "link": (
            call(3, handle(), opaque(b"link")) + call(5, handle(4))
            + call(6, handle(4), bytes(8), word(99)) + call(3, handle(4), opaque(b"secret"))
            + call(7, handle(4), bytes(8), word(1, 0), opaque(b"x")) + call(16, handle(4), page)
        ),
        "above": call(3, handle(), opaque(b"..")) + call(3, handle(), opaque(b"../outside")),
        "not-served": call(10, handle()) + call(15) + call(18, handle()) + call(99) + call(250),
        "limits": call(19, handle()) + call(20, handle()),
        "another-life": call(1, opaque(bytes(16))) + call(1, opaque(b"short")),
        "another-version": bytes([255]) + part(word(5, 0, 2, 100_003, 4, 1, 0, 0, 0, 0)),
        "no-call": bytes([255]) + part(word(5, 1, 2)),
    }  # fmt: skip
    seeds = {name: b"\x00" + calls for name, calls in seeds.items()}
    return seeds | {"nothing-may-change": b"\x01" + changes}


def sftp_messages() -> dict[str, bytes]:
    def stream(*messages: bytes, form: int = 1) -> bytes:
        return bytes([form]) + PIECES + b"".join(part(message) for message in (hello, *messages))

    def ask(kind: int, *fields: bytes) -> bytes:
        return bytes([kind]) + word(9) + b"".join(fields)

    hello, none, first, link = b"\x01" + word(3), word(0), string(bytes(4)), string(b"link")
    known = word(0x8000_000D) + bytes(8) + word(0o100_644, 5, 5, 1) + string(b"k") + string(b"v")
    name = string(b"name") + string(b"-rw-r--r-- 1 a b 0 Nov 21 10:00 name") + known
    above = string(b"a/../../b") + string(b"drwxr-xr-x") + none

    def opened(flags: int, path: bytes = b"file") -> bytes:
        return ask(3, string(path), word(flags), none)

    changes = [
        opened(0x1A, b"new"), ask(6, first, bytes(8), string(b"data")), ask(10, first, known),
        ask(4, first), ask(14, string(b"d"), none), ask(18, string(b"new"), string(b"d/e")),
        ask(9, string(b"file"), known), ask(13, string(b"/file")), ask(15, string(b"d")),
    ]  # fmt: skip
    return {
        "read": stream(opened(1), ask(5, first, bytes(8), word(100)), ask(8, first), ask(4, first)),
        "read-far": stream(opened(1), ask(5, first, b"\xff" * 8, word(2**32 - 1))),
        "changes": stream(*changes),
        "nothing-may-change": stream(*changes, form=3),
        "append": stream(opened(4), ask(6, first, b"\xff" * 8, string(b"data")), ask(4, first)),
        "list": stream(ask(11, string(b"/")), ask(12, first), ask(12, first), ask(4, first)),
        "looks": stream(ask(17, string(b"file")), ask(7, none), ask(16, string(b"a/../b"))),
        "link": stream(opened(1, b"link/secret"), ask(11, link), ask(7, link), ask(13, link)),
        "above": stream(opened(1, b"../outside/secret"), ask(11, string(b"folder/../.."))),
        "extended": stream(ask(200, string(b"limits@openssh.com")), opened(3),
                           ask(200, string(b"fsync@openssh.com"), first), ask(200, string(b"x"))),
        "cut-off": stream(b"\x05" + word(9) + word(4), b"\x05\0"),
        "no-hello": stream()[:2] + part(ask(17, string(b"file"))),
        "names": stream(b"\x68" + word(9, 2) + name + above),
        "names-without-end": stream(b"\x68" + word(9, 2**32 - 1) + name),
        "extensions": b"\x01" + PIECES + part(b"\x02" + word(3) + 2 * string(b"fsync@openssh.com")),
        "claims-all": b"\x00" + PIECES + word(2**32 - 1) + b"few",
        "claims-most": b"\x00" + PIECES + word(256 << 10) + b"few",
        "empty-message": b"\x00" + PIECES + word(0),
    }  # fmt: skip


USER, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TIME, SCOPE = "20130524T000000Z", "20130524/us-east-1/s3/aws4_request"


def sign(text: str) -> str:
    key = f"AWS4{SECRET}".encode()
    for element in SCOPE.split("/"):
        key = hmac.digest(key, element.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def signed(method: str, path: str, fields: dict[str, str], body: bytes) -> bytes:
    """A request of S3, signed in its head; the query in `path` is sorted and written already."""
    fields = {"host": "h", "x-amz-date": TIME, "content-length": str(len(body)), **fields}
    names = sorted(fields)
    where, _, query = path.partition("?")
    canonical = [method, where, query, *(f"{name}:{fields[name]}" for name in names), ""]
    canonical += [";".join(names), fields["x-amz-content-sha256"]]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    signature = sign("\n".join(["AWS4-HMAC-SHA256", TIME, SCOPE, digest]))
    fields["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={USER}/{SCOPE},SignedHeaders={';'.join(names)},"
        f"Signature={signature}"
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def s3_requests() -> dict[str, bytes]:
    def ask(line: str, body: str = "", **fields: str) -> bytes:
        head = {"content-length": str(len(body)), **fields}
        text = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
        return b"\x00" + PIECES + f"{line} HTTP/1.1\r\n{text}\r\n{body}".encode()

    def chunked(body: str, size: str = "3", **fields: str) -> bytes:
        kind = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
        said = {"x_amz_content_sha256": kind, "x_amz_decoded_content_length": size}
        return ask("PUT /lanlab/x", body, **said, **fields)

    parts = "<Part><PartNumber>1</PartNumber><ETag>&quot;0-b&quot;</ETag></Part>"
    complete = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>"
    digest = {"x-amz-content-sha256": hashlib.sha256(b"some octets").hexdigest()}
    return {
        "get-range": ask("GET /lanlab/a%20b/c?x-id=GetObject", range="bytes=2-"),
        "get-suffix": ask("GET /lanlab/a", range="bytes=-5"),
        "list": ask("GET /lanlab?list-type=2&prefix=a/%C3%BC&delimiter=/&max-keys=7"),
        "above": ask("GET /lanlab/../../etc/passwd"),
        "not-served": ask("GET /lanlab/a?acl&versionId=1"),
        "put": ask("PUT /lanlab/x", "some octets", x_amz_meta_mtime="-1.5"),
        "put-short": ask("PUT /lanlab/x", "some octets")[:-3],
        "put-checked": ask("PUT /lanlab/x", "abc", x_amz_checksum_crc32="NSRBwg=="),
        "put-too-long": ask("PUT /lanlab/x", 3000 * "x"),
        "chunks": chunked("3\r\nabc\r\n0\r\nx-amz-checksum-crc32: NSRBwg==\r\n\r\n",
                          x_amz_trailer="x-amz-checksum-crc32"),
        "chunk-too-long": chunked("ffffffffffffffff\r\nabc", "18446744073709551615"),
        "signed": b"\x01" + PIECES + signed("PUT", "/lanlab/x?a=b", digest, b"some octets"),
        "signed-url": b"\x01" + PIECES + signed_url(),
        "complete": ask("POST /lanlab/x?uploadId=0", complete),
        "complete-alone": b"\x00" + PIECES + complete.encode(),
        "deep": b"\x00" + PIECES + 40 * b"<Delete>",
    }  # fmt: skip


def signed_url() -> bytes:
    scope = SCOPE.replace("/", "%2F")
    query = (
        f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={USER}%2F{scope}&X-Amz-Date={TIME}"
        "&X-Amz-Expires=900&X-Amz-SignedHeaders=host"
    )
    canonical = f"GET\n/lanlab/x\n{query}\nhost:h\n\nhost\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    signature = sign("\n".join(["AWS4-HMAC-SHA256", TIME, SCOPE, digest]))
    line = f"GET /lanlab/x?{query}&X-Amz-Signature={signature} HTTP/1.1"
    return f"{line}\r\nhost: h\r\ncontent-length: 0\r\n\r\n".encode()
