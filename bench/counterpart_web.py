"""Servers of WebDAV and S3 for `counterparts.py`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

from counterpart_base import (
    HOST,
    PASSWORD,
    PROGRAMS,
    USER,
    Launch,
    Place,
    Row,
    crate,
    debian,
    debian_version,
    go,
    go_program,
    installed,
    maven,
    npm,
    pip,
)

BUCKET = "bucket"
_DAV = ("webdav",)
_S3 = ("s3",)


def _basic(place: Place) -> str:
    """A file of users for Apache, nginx and lighttpd."""
    argv = ["openssl", "passwd", "-apr1", PASSWORD]
    hashed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
    path = place.write("users", f"{USER}:{hashed}\n")
    place.private.chmod(0o755)
    path.chmod(0o644)
    return str(path)


def _libraries(place: Place) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(place.product / "usr/lib/x86_64-linux-gnu")}


def _wsgidav(place: Place) -> Launch:
    configuration = {
        "host": HOST,
        "port": place.port,
        "provider_mapping": {"/": str(place.root)},
        "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
        "http_authenticator": {"accept_basic": True, "accept_digest": True},
        "verbose": 1,
    }
    file = place.write("wsgidav.json", json.dumps(configuration))
    return Launch([place.program("wsgidav"), "-c", str(file)], place.url())


def _lighttpd(place: Place) -> Launch:
    text = f"""server.bind = "{HOST}"
server.port = {place.port}
server.document-root = "{place.root}"
server.modules = ( "mod_auth", "mod_authn_file", "mod_webdav" )
server.upload-dirs = ( "{place.private}" )
server.max-request-size = 0
webdav.activate = "enable"
webdav.is-readonly = "disable"
auth.backend = "htpasswd"
auth.backend.htpasswd.userfile = "{_basic(place)}"
auth.require = ( "/" => ( "method" => "basic", "realm" => "lab", "require" => "valid-user" ) )
"""
    argv = [place.program("lighttpd"), "-D", "-f", str(place.write("lighttpd.conf", text))]
    return Launch(
        [*argv, "-m", f"{place.product}/usr/lib/lighttpd"], place.url(), _libraries(place)
    )


def _nginx(place: Place, extended: bool) -> Launch:
    tls, trust = "", []
    if place.service == "webdavs":
        certificate, key = place.certificate()
        tls, trust = (
            f"ssl_certificate {certificate}; ssl_certificate_key {key};",
            ["--trust", str(certificate)],
        )
    ssl = " ssl" if tls else ""
    module = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
    load = f"load_module {module};" if extended else ""
    methods = "dav_ext_methods PROPFIND OPTIONS;" if extended else ""
    temporary = "".join(
        f"{kind}_temp_path {place.private}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = f"""{load}
daemon off; pid {place.private}/pid; error_log {place.private}/log;
events {{}}
http {{
  {temporary} access_log off; {tls}
  server {{
    listen {HOST}:{place.port}{ssl}; root {place.root}; client_max_body_size 0;
    auth_basic lab; auth_basic_user_file {_basic(place)};
    dav_methods PUT DELETE MKCOL COPY MOVE; {methods}
  }}
}}
"""
    argv = [place.program("nginx"), "-e", f"{place.private}/log"]
    return Launch([*argv, "-c", str(place.write("nginx.conf", text))], place.url(), arguments=trust)


def _nginx_dav(place: Place) -> Launch:
    return _nginx(place, extended=False)


def _nginx_dav_ext(place: Place) -> Launch:
    return _nginx(place, extended=True)


def _apache(login: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        users = _basic(place)
        if login == "Digest":
            import hashlib

            secret = hashlib.md5(f"{USER}:lab:{PASSWORD}".encode()).hexdigest()
            place.write("users", f"{USER}:lab:{secret}\n").chmod(0o644)
        names = ("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic")
        names = (*names, "auth_digest", "dav", "dav_fs")
        folder = f"{place.product}/usr/lib/apache2/modules"
        modules = "".join(f"LoadModule {name}_module {folder}/mod_{name}.so\n" for name in names)
        locks = place.private / "locks"
        locks.mkdir()
        locks.chmod(0o777)
        text = f"""{modules}
ServerName {HOST}
Listen {HOST}:{place.port}
PidFile {place.private}/pid
DefaultRuntimeDir {place.private}
ErrorLog {place.private}/log
User nobody
Group nogroup
DocumentRoot {place.root}
DavLockDB {locks}/db
<Directory {place.root}>
  Dav On
  AuthType {login}
  AuthName lab
  {"AuthDigestProvider" if login == "Digest" else "AuthBasicProvider"} file
  AuthUserFile {users}
  Require valid-user
</Directory>
"""
        argv = [place.program("apache2"), "-X", "-f", str(place.write("httpd.conf", text))]
        return Launch(argv, place.url(), _libraries(place))

    return launch


def _webdav_server(place: Place) -> Launch:
    argv = ["node", str(PROGRAMS / "webdav_server.js"), str(place.port), str(place.root)]
    environment = {"NODE_PATH": str(place.product / "node_modules")}
    return Launch([*argv, USER, PASSWORD], place.url(), environment)


def _net_webdav(place: Place) -> Launch:
    argv = [place.program("program"), f"{HOST}:{place.port}", str(place.root), USER, PASSWORD]
    return Launch(argv, place.url())


def _dufs(place: Place) -> Launch:
    argv = [place.program("dufs"), "--bind", HOST, "--port", str(place.port), "--allow-all"]
    return Launch([*argv, "--auth", f"{USER}:{PASSWORD}@/:rw", str(place.root)], place.url())


def _asgi_webdav(place: Place) -> Launch:
    account = {"username": USER, "password": PASSWORD, "permissions": ["+^/"]}
    provider = {"prefix": "/", "uri": f"file://{place.root}"}
    configuration = {"account_mapping": [account], "provider_mapping": [provider]}
    file = place.write("webdav.json", json.dumps(configuration))
    argv = [place.program("asgi-webdav"), "-H", HOST, "-P", str(place.port), "-c", str(file)]
    return Launch(argv, place.url())


def _bucket_folder(place: Place) -> None:
    (place.root / BUCKET).mkdir()
    (place.root / BUCKET).chmod(0o777)


def _make_bucket(place: Place) -> list[str]:
    argv = [
        place.program("python"),
        str(PROGRAMS / "make_bucket.py"),
        f"http://{HOST}:{place.port}",
    ]
    return [*argv, BUCKET, USER, PASSWORD]


def _moto(place: Place) -> Launch:
    argv = [place.program("moto_server"), "-H", HOST, "-p", str(place.port)]
    return Launch(argv, place.url(BUCKET), after=_make_bucket(place))


def _gofakes3(place: Place) -> Launch:
    argv = [place.program("gofakes3"), "-host", f"{HOST}:{place.port}", "-backend", "memory"]
    return Launch([*argv, "-initialbucket", BUCKET], place.url(BUCKET))


def _versitygw(place: Place) -> Launch:
    _bucket_folder(place)
    argv = [place.program("versitygw"), "--access", USER, "--secret", PASSWORD]
    argv += ["--port", f"{HOST}:{place.port}", "posix", str(place.root)]
    return Launch(argv, place.url(BUCKET))


def _s3rver(place: Place) -> Launch:
    argv = [place.program("s3rver"), "-d", str(place.private / "data"), "-a", HOST]
    argv += ["-p", str(place.port), "--no-vhost-buckets", "--configure-bucket", BUCKET, "-s"]
    # Its only account.
    return Launch(argv, place.url(BUCKET, "S3RVER"), password="S3RVER")


def _s3proxy(place: Place) -> Launch:
    _bucket_folder(place)
    file = place.write(
        "s3proxy.conf",
        f"""s3proxy.endpoint=http://{HOST}:{place.port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={USER}
s3proxy.credential={PASSWORD}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir={place.root}
""",
    )
    argv = ["java", "-cp", f"{place.product}/jars/*", "org.gaul.s3proxy.Main"]
    return Launch([*argv, "--properties", str(file)], place.url(BUCKET))


def _minio(place: Place) -> Launch:
    drive = place.private / "drive"
    (drive / BUCKET).mkdir(parents=True)
    argv = [place.program("minio"), "server", "--quiet", "--address", f"{HOST}:{place.port}"]
    login = {"MINIO_ROOT_USER": USER, "MINIO_ROOT_PASSWORD": PASSWORD}
    return Launch([*argv, str(drive)], place.url(BUCKET), login)


_APACHE = debian("apache2-bin", "libapr1", "libaprutil1")
_NGINX = installed("nginx", "nginx-light libnginx-mod-http-dav-ext")

ROWS = (
    Row("WsgiDAV", "4.4.0", pip("wsgidav==4.4.0", "cheroot==11.1.2"), _DAV, _wsgidav),
    Row(
        "lighttpd mod_webdav",
        debian_version("lighttpd"),
        debian("lighttpd", "lighttpd-mod-webdav", "liblua5.4-0"),
        _DAV,
        _lighttpd,
    ),
    Row(
        "nginx dav",
        debian_version("nginx"),
        _NGINX,
        _DAV,
        _nginx_dav,
        "Without PROPFIND lanlab makes no directories: it writes `d+-f` for `d/f`.",
    ),
    Row("nginx dav-ext", debian_version("nginx"), _NGINX, ("webdav", "webdavs"), _nginx_dav_ext),
    Row(
        "Apache mod_dav, Basic",
        debian_version("apache2-bin"),
        _APACHE,
        _DAV,
        _apache("Basic"),
        folder="apache",
    ),
    Row(
        "Apache mod_dav, Digest",
        debian_version("apache2-bin"),
        _APACHE,
        _DAV,
        _apache("Digest"),
        folder="apache",
    ),
    Row("webdav-server (Node.js)", "2.6.3", npm("webdav-server@2.6.3"), _DAV, _webdav_server),
    Row(
        "golang.org/x/net/webdav",
        "0.62.0",
        go_program("webdav_server.go", "golang.org/x/net@v0.62.0"),
        _DAV,
        _net_webdav,
    ),
    Row("dufs", "0.47.0", crate("dufs", "0.47.0"), _DAV, _dufs),
    Row(
        "ASGI WebDAV",
        "2.1.0",
        pip("ASGIWebDAV[standalone]==2.1.0", "backports.zstd==1.8.0"),
        _DAV,
        _asgi_webdav,
    ),
    Row("moto", "5.2.5", pip("moto[server]==5.2.5"), _S3, _moto),
    Row(
        "gofakes3",
        "1.2.0",
        go("github.com/johannesboyne/gofakes3/cmd/gofakes3@v1.2.0"),
        _S3,
        _gofakes3,
    ),
    Row(
        "versitygw",
        "1.8.0",
        go("github.com/versity/versitygw/cmd/versitygw@v1.8.0"),
        _S3,
        _versitygw,
        "Its own folders for locks and for uploads under way stay in its directory.",
        (".vgwlocks", ".sgwtmp"),
        needs_root=True,
    ),
    Row(
        "MinIO",
        "20260212201848",
        go("github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"),
        _S3,
        _minio,
    ),
    Row("s3rver", "3.7.1", npm("s3rver@3.7.1"), _S3, _s3rver),
    Row("s3proxy", "2.9.0", maven("org.gaul:s3proxy:2.9.0"), _S3, _s3proxy),
)
