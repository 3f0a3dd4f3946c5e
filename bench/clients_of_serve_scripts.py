"""The clients that `clients_of_serve.py` tries: what each needs, and its script for bash."""
# ruff: noqa: E501 (scripts have long lines)

from __future__ import annotations

from dataclasses import dataclass

import clients_of_serve_java as java
import clients_of_serve_s3 as s3


@dataclass(frozen=True)
class Client:
    """A client, its script, and what it needs."""

    name: str
    service: str
    #: Finds its version in what the script prints.
    version_pattern: str
    script: str
    programs: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    #: More options of `lanlab serve`.
    serve: tuple[str, ...] = ()


def _python(code: str) -> str:
    return (
        "python3 - <<'PY'\nimport os\nfrom importlib.metadata import version\n"
        "host, port = os.environ['HOST'], int(os.environ['PORT'])\n"
        "name, secret = os.environ['NAME'], os.environ['SECRET']\n"
        f"data = open('up.bin', 'rb').read()\n{code}\nPY\n"
    )


def _of_package(
    name: str, service: str, package: str, code: str, *, serve: tuple[str, ...] = ()
) -> Client:
    """A client of a Python package, `name==version`."""
    short = package.partition("==")[0]
    code = f"print('version', version({short!r}))\n{code}"
    return Client(name, service, r"version (\S+)", _python(code), pip=(package,), serve=serve)


#: What BSD's and Windows' clients are told, and what shall be there then.
_FTP_LINES = """open $HOST $PORT
user $NAME $SECRET
binary
put up.bin a.bin
get a.bin down.bin
prompt
mput *.txt
lcd back
mget *.txt
lcd ..
ascii
put one.txt text.txt
get text.txt text.back
mkdir d
rmdir d
rename text.txt other.txt
delete other.txt
ls *.txt
bye
"""
_FTP_SCRIPT = f"""
printf 'one\\n' > one.txt; printf 'two\\n' > two.txt; mkdir -p back
cat > lines <<EOF
{_FTP_LINES}EOF
tnftp -? 2>&1 | sed -n 1p || true; dpkg-query -W tnftp | cut -f2 | sed 's/^/version /'
tnftp -n -v $MODE < lines
cmp one.txt back/one.txt; cmp two.txt back/two.txt; cmp one.txt text.back
"""

_LFTP_SCRIPT = """
lftp --version | sed -n 1p
printf 'one\\n' > one.txt; printf 'two\\n' > two.txt; mkdir -p back
cat > lines <<EOF
set cmd:fail-exit yes; set net:max-retries 2; set ftp:ssl-allow no; set ftp:passive-mode $PASSIVE
open -u $NAME,$SECRET -p $PORT $HOST
put up.bin -o a.bin; get a.bin -o down.bin; mput *.txt; mget -O back *.txt
mkdir d; rmdir d; mv one.txt three.txt; cls -l; rm three.txt
mirror -R back m; mirror m m; rm -r m
EOF
lftp -f lines
cmp two.txt back/two.txt; cmp two.txt m/two.txt
"""

_RCLONE = """
unset AWS_CA_BUNDLE
rclone version | sed -n 1p
R=:$KIND
put() { rclone --config /dev/null "$@"; }
put copyto up.bin $R:$AT/a.bin; put copyto $R:$AT/a.bin down.bin
mkdir tree; for i in 1 2 3; do echo $i > tree/f$i; done
put sync tree $R:$AT/tree; put lsl $R:$AT/tree | grep -c f
put moveto $R:$AT/tree/f1 $R:$AT/tree/g1; put check --one-way --download $R:$AT/tree tree 2>&1 | tail -1 || true
put purge $R:$AT/tree
"""


def _rclone(service: str, settings: str, at: str = "", serve: tuple[str, ...] = ()) -> Client:
    script = f"export {settings}; KIND={service} AT={at}\n" + _RCLONE
    return Client("rclone", service, r"rclone (v\S+)", script, ("rclone",), serve=serve)


_SMBCLIENT = """
smbclient --version
printf 'one\\n' > one.txt; printf 'two\\n' > two.txt; mkdir back
O=--option=clientminprotocol=$DIALECT
smbclient //$HOST/lanlab -p $PORT -s /dev/null -m $DIALECT $O \\
  -U "$NAME%$SECRET" -c 'put up.bin a.bin; get a.bin down.bin; mkdir d; ls; prompt; mput *.txt; lcd back; mget *.txt; rename one.txt three.txt; del three.txt; rmdir d; allinfo a.bin'
cmp two.txt back/two.txt
smbclient -L //$HOST -p $PORT -s /dev/null -m $DIALECT $O \\
  -U "$NAME%$SECRET" -g | grep -i 'disk|lanlab'
"""


def _smbclient(service: str, dialect: str) -> Client:
    script = f"DIALECT={dialect}\n" + _SMBCLIENT
    name = f"smbclient, {dialect}"
    return Client(name, service, r"Version (\S+)", script, ("smbclient",))


_IMPACKET = """
import io
from impacket.smbconnection import SMBConnection
from impacket.dcerpc.v5 import transport, srvs
c = SMBConnection('*SMBSERVER', host, sess_port=port, preferredDialect=DIALECT)
c.login(name, secret)
c.putFile('lanlab', 'a.bin', io.BytesIO(data).read)
got = io.BytesIO(); c.getFile('lanlab', 'a.bin', got.write); open('down.bin', 'wb').write(got.getvalue())
c.createDirectory('lanlab', 'd'); c.putFile('lanlab', 'd\\\\x', io.BytesIO(b'x').read)
assert [f.get_longname() for f in c.listPath('lanlab', 'd\\\\*')][-1] == 'x'
c.rename('lanlab', 'd\\\\x', 'd\\\\y'); c.deleteFile('lanlab', 'd\\\\y'); c.deleteDirectory('lanlab', 'd')
shares = [s['shi1_netname'][:-1].lower() for s in c.listShares()]
assert 'lanlab' in shares, shares
"""

_PYSMB = """
import io
from smb.SMBConnection import SMBConnection
import smb.smb_structs
smb.smb_structs.SUPPORT_SMB2 = smb.smb_structs.SUPPORT_SMB2x = SMB2
c = SMBConnection(name, secret, 'me', 'LANLAB', use_ntlm_v2=True, is_direct_tcp=True)
assert c.connect(host, port, timeout=20)
c.storeFile('lanlab', '/a.bin', io.BytesIO(data), timeout=20)
c.createDirectory('lanlab', '/d'); c.storeFile('lanlab', '/d/x', io.BytesIO(b'x'))
assert [f.filename for f in c.listPath('lanlab', '/d')][-1] == 'x'
c.rename('lanlab', '/d/x', '/d/y'); c.deleteFiles('lanlab', '/d/y'); c.deleteDirectory('lanlab', '/d')
assert 'lanlab' in [s.name.lower() for s in c.listShares()]
got = io.BytesIO(); c.retrieveFile('lanlab', '/a.bin', got, timeout=10)
open('down.bin', 'wb').write(got.getvalue())
"""

_SMBPROTOCOL = """
import smbclient, smbclient.shutil
smbclient.ClientConfig(username=name, password=secret)
kw = dict(port=port)
at = lambda n: r'\\\\127.0.0.1\\lanlab' + '\\\\' + n
with smbclient.open_file(at('a.bin'), mode='wb', **kw) as f: f.write(data)
with smbclient.open_file(at('a.bin'), mode='rb', **kw) as f: open('down.bin', 'wb').write(f.read())
smbclient.mkdir(at('d'), **kw)
with smbclient.open_file(at('d\\\\x'), mode='xb', **kw) as f: f.write(b'x')
assert smbclient.listdir(at('d'), **kw) == ['x']
smbclient.rename(at('d\\\\x'), at('d\\\\y'), **kw); smbclient.remove(at('d\\\\y'), **kw); smbclient.rmdir(at('d'), **kw)
try: smbclient.stat(at('a.bin'), **kw)
except OSError as error: print('differs: `stat` and `copyfile` fail: STATUS_NOT_SUPPORTED' if 'SUPPORTED' in str(error) else f'differs: {error}')
"""

_SFTP_PARAMIKO = """
import paramiko
t = paramiko.Transport((host, port)); t.connect(username=name, password=secret)
s = paramiko.SFTPClient.from_transport(t)
s.put('up.bin', 'a.bin'); s.get('a.bin', 'down.bin')
s.mkdir('d'); s.open('d/x', 'w').close(); assert s.listdir('d') == ['x']
s.rename('d/x', 'd/y'); s.posix_rename('d/y', 'd/z') if False else None
s.chmod('d/y', 0o600); s.utime('d/y', (1, 2)); assert s.stat('d/y').st_mtime == 2
s.remove('d/y'); s.rmdir('d'); t.close()
"""

_WEBDAV4 = """
from webdav4.client import Client
c = Client(f'http://{host}:{port}/', auth=(name, secret))
c.upload_file('up.bin', 'a.bin'); c.download_file('a.bin', 'down.bin')
c.mkdir('d ü'); c.upload_file('up.bin', 'd ü/x 1'); c.copy('d ü/x 1', 'd ü/y'); c.move('d ü/y', 'd ü/z')
assert sorted(c.ls('d ü', detail=False)) == ['d ü/x 1', 'd ü/z'], c.ls('d ü', detail=False)
assert c.content_length('d ü/z') == len(data)
c.remove('d ü'); assert c.ls('', detail=False) == ['a.bin']
"""

_ASYNCSSH = """
import asyncio, asyncssh
async def main():
    async with asyncssh.connect(host, port, username=name, password=secret, known_hosts=None) as c:
        async with c.start_sftp_client() as s:
            await s.put('up.bin', 'a.bin'); await s.get('a.bin', 'down.bin')
            await s.mkdir('d'); await s.rename('a.bin', 'd/b'); await s.rename('d/b', 'a.bin')
            assert 'd' in await s.listdir('.')
            await s.rmtree('d')
asyncio.run(main())
"""

_AIOFTP = """
import asyncio, aioftp, pathlib
async def main():
    async with aioftp.Client.context(host, port, name, secret) as c:
        await c.upload('up.bin', 'a.bin', write_into=True); await c.download('a.bin', 'down.bin', write_into=True)
        await c.make_directory('d'); await c.upload('up.bin', 'd/x', write_into=True)
        assert [str(p) for p, _ in await c.list('d')] == ['d/x']
        await c.rename('d/x', 'd/y'); await c.remove('d')
asyncio.run(main())
"""

_FTPLIB = """
import ftplib, io, sys
print('version', sys.version.split()[0])
for passive in (True, False):
    f = ftplib.FTP(); f.connect(host, port, 20); f.login(name, secret); f.set_pasv(passive)
    f.storbinary('STOR a.bin', open('up.bin', 'rb'))
    with open('down.bin', 'wb') as out: f.retrbinary('RETR a.bin', out.write)
    f.storlines('STOR t', io.BytesIO(b'one\\r\\ntwo\\r\\n')); lines = []; f.retrlines('RETR t', lines.append)
    assert lines == ['one', 'two'] and open(os.environ['ROOT'] + '/t').read() == 'one\\ntwo\\n'
    assert f.nlst('*.bin') == ['a.bin']; f.delete('t'); f.quit()
"""

_NFS = """
dpkg-query -W libnfs-utils | cut -f2 | sed 's/^/version /'
U="?nfsport=$PORT&mountport=$PORT"
nfs-cp up.bin "nfs://$HOST/lanlab/a.bin$U" 2>&1; nfs-cp "nfs://$HOST/lanlab/a.bin$U" down.bin 2>&1
nfs-cat "nfs://$HOST/lanlab/a.bin$U" | cmp - up.bin
nfs-ls "nfs://$HOST/lanlab$U" | grep a.bin; nfs-ls -s "nfs://$HOST/lanlab$U" | tail -1
"""

_CADAVER = """
dpkg-query -W cadaver | cut -f2 | sed 's/^/version /'
printf 'machine %s\\nlogin %s\\npassword %s\\n' $HOST $NAME $SECRET > ~/.netrc; chmod 600 ~/.netrc
printf 'put up.bin a.bin\\nget a.bin down.bin\\nmkcol d\\nmput up.bin\\nmove up.bin d/x\\ncopy d/x d/y\\nls d\\nlock d/x\\nunlock d/x\\nrmcol d\\nquit\\n' > lines
cadaver http://$HOST:$PORT/ < lines | tee said; ! grep -i failed said
"""

_CURL_DAV = """
curl --version | sed -n 1p
c() { curl -sSf -u "$NAME:$SECRET" "$@"; }
B=http://$HOST:$PORT
c -T up.bin $B/a.bin; c $B/a.bin -o down.bin; c -X MKCOL $B/d; c -X MOVE -H "Destination: $B/d/x" $B/a.bin
c -X COPY -H "Destination: $B/a.bin" $B/d/x; c -X PROPFIND -H 'Depth: 1' $B/d/ | grep -c response; c -X DELETE $B/d
c -r 10-19 $B/a.bin | cmp - <(tail -c +11 up.bin | head -c 10)
"""

_CURL_FTP = """
curl --version | sed -n 1p
c() { curl -sS -m 60 -u "$NAME:$SECRET" $MODE "$@"; }
B=ftp://$HOST:$PORT
c -T up.bin $B/a.bin; c $B/a.bin -o down.bin; c $B/ | grep a.bin; c -l $B/ | grep a.bin
c --ftp-create-dirs -T up.bin $B/d/e/x; c -Q 'DELE d/e/x' -Q 'RMD d/e' -Q 'RMD d' $B/ >/dev/null
head -c 1000 up.bin > part; c -T part $B/r.bin; cp up.bin r.up; c -C 1000 -T r.up $B/r.bin; cmp up.bin $ROOT/r.bin
printf 'one\\n' > t; c -B -T t $B/t; c -B $B/t | cmp - t; cmp t $ROOT/t
"""

_NCFTP = """
dpkg-query -W ncftp | cut -f2 | sed 's/^/version /'
cp up.bin a.bin
ncftpput $MODE -u $NAME -p $SECRET -P $PORT $HOST / a.bin
mkdir back; ncftpget $MODE -u $NAME -p $SECRET -P $PORT $HOST back '/a*.bin'; cp back/a.bin down.bin
ncftpls $MODE -u $NAME -p $SECRET -P $PORT -l ftp://$HOST/ | grep a.bin
mkdir m; cp up.bin m/x; ncftpput -R $MODE -u $NAME -p $SECRET -P $PORT $HOST / m
ncftpget -R $MODE -u $NAME -p $SECRET -P $PORT $HOST back /m; cmp back/m/x up.bin
"""

_OPENSSH = """
ssh -V 2>&1
printf '#!/bin/sh\\necho %s\\n' "$SECRET" > ask; chmod +x ask
printf 'put up.bin a.bin\\nget a.bin down.bin\\nmkdir d\\nrename a.bin d/x\\nrename d/x a.bin\\nls -l\\ndf\\nrmdir d\\n' > lines
SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force DISPLAY=x sftp -o StrictHostKeyChecking=no \\
  -o UserKnownHostsFile=/dev/null -o PubkeyAuthentication=no -o BatchMode=no -P $PORT -b lines $NAME@$HOST 2>&1 \\
  | tee said || grep -q statvfs said
"""

_SECRET_OF_RCLONE = "$(rclone obscure $SECRET)"

CLIENTS: tuple[Client, ...] = (
    Client("curl, passive", "ftp", r"curl (\S+)", "MODE=\n" + _CURL_FTP, ("curl",)),
    Client("curl, active", "ftp", r"curl (\S+)", "MODE='-P -'\n" + _CURL_FTP, ("curl",)),
    Client("lftp, passive", "ftp", r"Version (\S+)", "PASSIVE=on\n" + _LFTP_SCRIPT, ("lftp",)),
    Client("lftp, active", "ftp", r"Version (\S+)", "PASSIVE=off\n" + _LFTP_SCRIPT, ("lftp",)),
    Client("tnftp, passive", "ftp", r"version (\S+)", "MODE=-p\n" + _FTP_SCRIPT, ("tnftp",)),
    Client("tnftp, active", "ftp", r"version (\S+)", "MODE=-A\n" + _FTP_SCRIPT, ("tnftp",)),
    Client("ncftp, passive", "ftp", r"version (\S+)", "MODE=-F\n" + _NCFTP, ("ncftpput",)),
    Client("ncftp, active", "ftp", r"version (\S+)", "MODE=-E\n" + _NCFTP, ("ncftpput",)),
    Client("Python ftplib", "ftp", r"version (\S+)", _python(_FTPLIB)),
    _of_package("aioftp", "ftp", "aioftp==0.28.3", _AIOFTP),
    _rclone(
        "ftp",
        f"RCLONE_FTP_HOST=$HOST RCLONE_FTP_PORT=$PORT RCLONE_FTP_USER=$NAME RCLONE_FTP_PASS={_SECRET_OF_RCLONE}",
    ),
    Client("OpenSSH", "sftp", r"OpenSSH_(\S+)", _OPENSSH, ("sftp",)),
    _of_package("paramiko", "sftp", "paramiko==5.1.0", _SFTP_PARAMIKO),
    _of_package("asyncssh", "sftp", "asyncssh==2.24.1", _ASYNCSSH),
    _rclone(
        "sftp",
        f"RCLONE_SFTP_HOST=$HOST RCLONE_SFTP_PORT=$PORT RCLONE_SFTP_USER=$NAME RCLONE_SFTP_PASS={_SECRET_OF_RCLONE}",
    ),
    Client("curl", "webdav", r"curl (\S+)", _CURL_DAV, ("curl",)),
    Client("cadaver", "webdav", r"version (\S+)", _CADAVER, ("cadaver",)),
    _of_package("webdav4", "webdav", "webdav4==0.11.0", _WEBDAV4),
    _rclone(
        "webdav",
        f"RCLONE_WEBDAV_URL=http://$HOST:$PORT RCLONE_WEBDAV_USER=$NAME RCLONE_WEBDAV_PASS={_SECRET_OF_RCLONE}",
    ),
    _of_package("boto3", "s3", "boto3==1.44.5", s3.BOTO3),
    _of_package("minio", "s3", "minio==7.2.20", s3.MINIO),
    Client("s3cmd", "s3", r"version (\S+)", s3.S3CMD, pip=("s3cmd==2.4.0",)),
    Client("aws", "s3", r"aws-cli/(\S+)", s3.AWS, ("aws",)),
    Client("minio-go", "s3", r"minio-go/v7 (v\S+)", s3.MINIO_GO, ("go",)),
    _rclone(
        "s3",
        "RCLONE_S3_PROVIDER=Other RCLONE_S3_ENDPOINT=http://$HOST:$PORT RCLONE_S3_ACCESS_KEY_ID=$NAME RCLONE_S3_SECRET_ACCESS_KEY=$SECRET",
        "lanlab",
    ),
    Client("libnfs", "nfs", r"version (\S+)", _NFS, ("nfs-cp",)),
    _smbclient("smb", "SMB2_02"),
    _smbclient("smb", "SMB2_10"),
    _smbclient("smb", "SMB3_00"),
    _smbclient("smb", "SMB3_11"),
    _of_package("impacket", "smb", "impacket==0.13.1", "DIALECT = None\n" + _IMPACKET),
    _of_package("pysmb", "smb", "pysmb==1.2.15", "SMB2 = True\n" + _PYSMB),
    _of_package("smbprotocol", "smb", "smbprotocol==1.17.0", _SMBPROTOCOL),
    *(Client(n, "smb", r"version (\S+)", s, ("java", "mvn")) for n, s in java.SCRIPTS.items()),
    _smbclient("smb1", "NT1"),
    _of_package(
        "impacket",
        "smb1",
        "impacket==0.13.1",
        "from impacket.smb import SMB_DIALECT as DIALECT\n" + _IMPACKET,
    ),
    _of_package("pysmb", "smb1", "pysmb==1.2.15", "SMB2 = False\n" + _PYSMB),
)
