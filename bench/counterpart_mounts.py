"""Servers of SMB and NFS, and rclone, which serves most, for `counterparts.py`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from counterpart_base import (
    HOST,
    PASSWORD,
    USER,
    Launch,
    Place,
    Row,
    debian,
    debian_version,
    go,
    installed,
    pip,
)


def _rclone(place: Place) -> Launch:
    kind = {"webdavs": "webdav"}.get(place.service, place.service)
    argv = [
        place.program("rclone"),
        "serve",
        kind,
        str(place.root),
        "--addr",
        f"{HOST}:{place.port}",
    ]
    argv += ["--config", os.devnull, "--cache-dir", str(place.private), "--vfs-cache-mode", "full"]
    arguments: list[str] = []
    path, who = "", USER
    if place.service == "s3":
        (place.root / "bucket").mkdir()
        argv += ["--auth-key", f"{USER},{PASSWORD}"]
        path = "bucket"
    elif place.service == "nfs":
        who = None
    else:
        argv += ["--user", USER, "--pass", PASSWORD]
    if place.service == "sftp":
        key = place.host_key()
        argv += ["--key", str(key)]
        line = subprocess.run(
            ["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True, text=True
        )
        arguments = ["--trust", line.stdout.split()[1]]
    return Launch(argv, place.url(path, who), arguments=arguments)


def _impacket(*options: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        argv = [place.program("smbserver.py"), "-ip", HOST, "-port", str(place.port), *options]
        argv += ["-username", USER, "-password", PASSWORD, "lab", str(place.root)]
        return Launch(argv, place.url("lab"))

    return launch


def _samba(settings: str = "", share: str = "", query: str = "") -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        text = f"""[global]
server role = standalone server
smb ports = {place.port}
interfaces = {HOST}
bind interfaces only = yes
disable netbios = yes
map to guest = never
passdb backend = tdbsam:{place.private}/passdb.tdb
username map = {place.private}/map
private dir = {place.private}
lock directory = {place.private}
state directory = {place.private}
cache directory = {place.private}
pid directory = {place.private}
ncalrpc dir = {place.private}/rpc
load printers = no
printcap name = /dev/null
disable spoolss = yes
rpc start on demand helpers = no
log file = {place.private}/log
{settings}
[lab]
path = {place.root}
read only = no
{share}
"""
        place.write("map", f"root = {USER}\n")
        configuration = str(place.write("smb.conf", text))
        make = ["pdbedit", "-s", configuration, "-a", "-t", "-u", "root"]
        subprocess.run(make, input=f"{PASSWORD}\n" * 2, text=True, check=True, capture_output=True)
        argv = [place.program("smbd"), "-F", "--no-process-group", "-s", configuration]
        argv += ["-l", str(place.private)]
        if (modules := place.product / _SAMBA_FOLDER).is_dir():
            # They are found in one folder only: the unpacked ones are laid over it.
            lower = f"lowerdir={modules}:/{_SAMBA_FOLDER}"
            laid = f'mount -t overlay counterpart -o "{lower}" /{_SAMBA_FOLDER} && exec "$@"'
            argv = ["unshare", "-m", "sh", "-c", laid, "sh", *argv]
        return Launch(argv, place.url(f"lab{query}"))

    return launch


def _samba_dialect(name: str) -> Callable[[Place], Launch]:
    return _samba(f"server min protocol = {name}\nserver max protocol = {name}")


def _samba_old(dialect: str) -> Callable[[Place], Launch]:
    settings = "server min protocol = LANMAN1\nserver max protocol = NT1\nlanman auth = yes\n"
    return _samba(f"{settings}ntlm auth = ntlmv1-permitted", query=f"?dialect={dialect}")


def _ganesha(versions: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        text = f"""NFS_CORE_PARAM {{
  NFS_Protocols = {versions}; Enable_NLM = false; Enable_RQUOTA = false; }}
EXPORT {{ Export_Id = 1; Path = {place.root}; Pseudo = /e; Protocols = {versions};
  Access_Type = RW; Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}
"""
        argv = [place.program("ganesha.nfsd"), "-F", "-f", str(place.write("ganesha.conf", text))]
        server = [*argv, "-L", f"{place.private}/log", "-p", f"{place.private}/pid"]
        script = "mount -t tmpfs counterpart /run && mkdir /run/rpcbind && { rpcbind -f -i & } && "
        script += 'sleep 1; exec "$@"'
        url = f"nfs://{HOST}{place.root}"
        return Launch(["unshare", "-m", "sh", "-c", script, "sh", *server], url, port=_NFS_PORT)

    return launch


_NFS_PORT = 2049
_SAMBA_FOLDER = "usr/lib/x86_64-linux-gnu/samba"
_SAMBA = installed("smbd", "samba")
_SAMBA_VERSION = debian_version("samba")
_SMB = ("smb",)


def _samba_row(
    what: str,
    launch: Callable[[Place], Launch],
    services: tuple[str, ...] = _SMB,
    differs: str = "",
    dos_names: bool = False,
) -> Row:
    name = f"Samba, {what}" if what else "Samba"
    install = debian("samba-vfs-modules") if what == "recycle" else _SAMBA
    keeps = (".recycle",)
    return Row(name, _SAMBA_VERSION, install, services, launch, differs, keeps, "", True, dos_names)


_RECYCLE = "vfs objects = recycle\nrecycle:repository = .recycle\nrecycle:keeptree = yes"

ROWS = (
    Row(
        "rclone serve",
        "1.76.0",
        go("github.com/rclone/rclone@v1.76.0"),
        ("ftp", "sftp", "webdav", "s3", "nfs"),
        _rclone,
    ),
    _samba_row("", _samba()),
    _samba_row("server signing = mandatory", _samba("server signing = mandatory")),
    _samba_row("smb encrypt = required", _samba("smb encrypt = required")),
    _samba_row(
        "recycle",
        _samba(share=_RECYCLE),
        differs="Removed files, lanlab's too, stay in its recycle folder.",
    ),
    _samba_row("case sensitive = yes", _samba(share="case sensitive = yes")),
    _samba_row("preserve case = no", _samba(share="preserve case = no\ndefault case = upper")),
    _samba_row("SMB 2.0.2 only", _samba_dialect("SMB2_02")),
    _samba_row("SMB 2.1 only", _samba_dialect("SMB2_10")),
    _samba_row("SMB 3.0 only", _samba_dialect("SMB3_00")),
    _samba_row("SMB 3.0.2 only", _samba_dialect("SMB3_02")),
    _samba_row("SMB 3.1.1 only", _samba_dialect("SMB3_11")),
    _samba_row("SMB 1 as LANMAN1", _samba_old("lanman1"), ("smb1",), dos_names=True),
    _samba_row("SMB 1 as LM1.2X002", _samba_old("lm12x002"), ("smb1",), dos_names=True),
    _samba_row("SMB 1 as NT1", _samba_old("nt1"), ("smb1",)),
    Row("impacket smbserver", "0.13.1", pip("impacket==0.13.1"), _SMB, _impacket("-smb2support")),
    Row("impacket smbserver, SMB 1", "0.13.1", pip("impacket==0.13.1"), ("smb1",), _impacket()),
    Row(
        "NFS-Ganesha, NFS 3 only",
        debian_version("nfs-ganesha"),
        installed("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs rpcbind"),
        ("nfs",),
        _ganesha("3"),
        needs_root=True,
    ),
    Row(
        "NFS-Ganesha, NFS 4 only",
        debian_version("nfs-ganesha"),
        installed("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs rpcbind"),
        ("nfs",),
        _ganesha("4"),
        "`nfs://` needs NFS 3, and says so; `nfs4://` is for NFS 4.1.",
        needs_root=True,
    ),
)
