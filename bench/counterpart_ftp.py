"""Servers of FTP and FTPS for `counterparts.py`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from counterpart_base import (
    HOST,
    PASSWORD,
    PROGRAMS,
    USER,
    Launch,
    Place,
    Row,
    debian,
    debian_version,
    go_program,
    maven,
    npm,
    pip,
)


def _trusted(place: Place) -> tuple[list[str], list[str]]:
    """Arguments with a certificate and its key, of the server and of lanlab."""
    if place.service != "ftps":
        return [], []
    certificate, key = place.certificate()
    return [str(certificate), str(key)], ["--trust", str(certificate)]


def _pyftpdlib(place: Place) -> Launch:
    tls, trust = _trusted(place)
    argv = [place.program("python"), str(PROGRAMS / "pyftpdlib_server.py"), str(place.port)]
    return Launch([*argv, str(place.root), USER, PASSWORD, *tls], place.url(), arguments=trust)


def _aioftp(place: Place) -> Launch:
    argv = [place.program("python"), "-m", "aioftp", "--host", HOST, "--port", str(place.port)]
    user = ["--user", USER, "--pass", PASSWORD, "-d", str(place.root), "-q"]
    return Launch([*argv, *user], place.url())


def _ftp_srv(place: Place) -> Launch:
    argv = [place.program("ftp-srv"), f"ftp://{HOST}:{place.port}", "--pasv_url", HOST]
    who = ["--username", USER, "--password", PASSWORD]
    return Launch([*argv, "--root", str(place.root), *who], place.url())


def _ftpserverlib(place: Place) -> Launch:
    tls, trust = _trusted(place)
    argv = [place.program("program"), f"{HOST}:{place.port}", str(place.root), USER, PASSWORD]
    return Launch([*argv, *tls], place.url(), arguments=trust)


def _apache_ftpserver(place: Place) -> Launch:
    source = str(PROGRAMS / "ApacheFtpServer.java")
    argv = ["java", "-cp", f"{place.product}/jars/*", source, str(place.port)]
    return Launch([*argv, str(place.root), USER, PASSWORD], place.url())


def _vsftpd(place: Place) -> Launch:
    text = f"""listen=YES
listen_address={HOST}
listen_port={place.port}
background=NO
anonymous_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
anon_umask=022
write_enable=YES
anon_root={place.root.parent}
no_anon_password=YES
ftp_username=daemon
nopriv_user=nobody
secure_chroot_dir={place.private / "empty"}
seccomp_sandbox=NO
"""
    (place.private / "empty").mkdir()
    trust: list[str] = []
    if place.service == "ftps":
        (certificate, key), trust = _trusted(place)
        text += f"""ssl_enable=YES
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
require_ssl_reuse=YES
rsa_cert_file={certificate}
rsa_private_key_file={key}
"""
    argv = [place.program("vsftpd"), str(place.write("vsftpd.conf", text))]
    url = place.url(place.root.name, user="anonymous")
    return Launch(argv, url, arguments=trust)


def _libraries(place: Place) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(place.product / "usr/lib/x86_64-linux-gnu")}


def _hashed() -> str:
    argv = ["openssl", "passwd", "-6", PASSWORD]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def _proftpd(place: Place) -> Launch:
    text = f"""ServerName counterpart
ServerType standalone
DefaultServer on
Port {place.port}
DefaultAddress {HOST}
UseIPv6 off
User nobody
Group nogroup
PidFile {place.private}/pid
ScoreboardFile {place.private}/scoreboard
AuthOrder mod_auth_file.c
AuthUserFile {place.private}/users
RequireValidShell off
DefaultRoot {place.root}
AllowOverwrite on
WtmpLog off
TransferLog none
"""
    trust: list[str] = []
    if place.service == "ftps":
        (certificate, key), trust = _trusted(place)
        text = f'ModulePath "{place.product}/usr/lib/proftpd"\nLoadModule mod_tls.c\n{text}'
        text += f"TLSEngine on\nTLSRequired on\nTLSRSACertificateFile {certificate}\n"
        text += f"TLSRSACertificateKeyFile {key}\n"
    place.write("users", f"{USER}:{_hashed()}:65534:65534::{place.root}:/bin/sh\n")
    configuration = place.write("proftpd.conf", text)
    argv = [place.program("proftpd"), "-n", "-q", "-c", str(configuration)]
    return Launch(argv, place.url(), _libraries(place), arguments=trust)


def _pure_ftpd(place: Place) -> Launch:
    users = place.write("users", f"{USER}:{_hashed()}:65534:65534::{place.root}/./::::::::::::\n")
    database = place.private / "users.pdb"
    subprocess.run([place.program("pure-pw"), "mkdb", str(database), "-f", str(users)], check=True)
    tls: list[str] = []
    trust: list[str] = []
    if place.service == "ftps":
        given, trust = _trusted(place)
        both = place.write("both.pem", "".join(Path(name).read_text() for name in given))
        tls = ["-Y", "3", "-2", str(both)]
    argv = [place.program("pure-ftpd"), "-S", f"{HOST},{place.port}", "-l", f"puredb:{database}"]
    pid = ["-g", str(place.private / "pid"), "-u", "100", "-A"]
    return Launch([*argv, *pid, *tls], place.url(), _libraries(place), arguments=trust)


def _copyparty(place: Place) -> Launch:
    port = {"ftp": ["--ftp", str(place.port), "-p", "3923"]}.get(place.service)
    argv = [place.program("python"), "-m", "copyparty", "-i", HOST, "--usernames", "-q"]
    who = ["-a", f"{USER}:{PASSWORD}", "-v", f"{place.root}::rwmd,{USER}", "--dav-auth", "--daw"]
    argv += [*(port or ["-p", str(place.port)]), *who, "--hist", str(place.private / "hist")]
    environment = {"XDG_CONFIG_HOME": str(place.private), "HOME": str(place.private)}
    return Launch(argv, place.url(), environment)


_PROFTPD = debian(
    "proftpd-core",
    "proftpd-mod-crypto",
    "libhiredis0.14",
    "libmemcached11",
    "libmemcachedutil2",
    "libhashkit2",
    "libpcre2-posix3",
)

ROWS = (
    Row(
        "pyftpdlib",
        "2.2.0",
        pip("pyftpdlib==2.2.0", "pyOpenSSL==26.4.0"),
        ("ftp", "ftps"),
        _pyftpdlib,
    ),
    Row("aioftp", "0.28.3", pip("aioftp==0.28.3"), ("ftp",), _aioftp),
    Row("ftp-srv", "4.6.3", npm("ftp-srv@4.6.3"), ("ftp",), _ftp_srv),
    Row(
        "ftpserverlib",
        "0.30.0",
        go_program(
            "ftpserverlib.go",
            "github.com/fclairamb/ftpserverlib@v0.30.0",
            "github.com/spf13/afero@v1.15.0",
        ),
        ("ftp", "ftps"),
        _ftpserverlib,
    ),
    Row(
        "Apache FtpServer",
        "1.2.1",
        maven("org.apache.ftpserver:ftpserver-core:1.2.1", "org.slf4j:slf4j-nop:2.0.17"),
        ("ftp",),
        _apache_ftpserver,
    ),
    Row(
        "vsftpd",
        debian_version("vsftpd"),
        debian("vsftpd"),
        ("ftp", "ftps"),
        _vsftpd,
        needs_root=True,
    ),
    Row(
        "ProFTPD",
        debian_version("proftpd-core"),
        _PROFTPD,
        ("ftp", "ftps"),
        _proftpd,
        needs_root=True,
    ),
    Row(
        "Pure-FTPd",
        debian_version("pure-ftpd"),
        debian("pure-ftpd", "pure-ftpd-common"),
        ("ftp", "ftps"),
        _pure_ftpd,
        needs_root=True,
    ),
    Row(
        "copyparty",
        "1.20.26",
        pip("copyparty==1.20.26", "pyftpdlib==2.2.0", "paramiko==5.1.0"),
        ("ftp", "webdav"),
        _copyparty,
    ),
)
