"""Paramiko with one user, and SFTP's calls on a directory: PORT ROOT USER PASSWORD KEY."""

import os
import posixpath
import socket
import sys
import threading
from pathlib import Path

import paramiko

port, root, user, password, key = sys.argv[1:]


def inside(name: str) -> str:
    """Where a name of the client lies."""
    return root + posixpath.normpath("/" + name)


def tried(call, *arguments):
    """The status of a call, or what it gave."""
    try:
        return call(*arguments) or paramiko.SFTP_OK
    except OSError as error:
        return paramiko.SFTPServer.convert_errno(error.errno)


def status_of(path, call):
    """The attributes of a file, by `os.stat` or `os.lstat`."""
    attributes = paramiko.SFTPAttributes.from_stat(call(path))
    attributes.filename = Path(path).name
    return attributes


class Handle(paramiko.SFTPHandle):
    """An open file."""

    def stat(self):
        """Size and times of the open file."""
        return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    def chattr(self, attr):
        """Accept attributes."""
        return paramiko.SFTP_OK


class Files(paramiko.SFTPServerInterface):
    """The calls on names."""

    def list_folder(self, path):
        """Names and attributes of a directory."""
        try:
            return [status_of(found, os.lstat) for found in Path(inside(path)).iterdir()]
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)

    def stat(self, path):
        """Attributes of a file."""
        return tried(status_of, inside(path), os.stat)

    def lstat(self, path):
        """Attributes of a file or link."""
        return tried(status_of, inside(path), os.lstat)

    def open(self, path, flags, attr):
        """Open a file."""
        try:
            number = os.open(inside(path), flags, 0o600)
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        handle = Handle(flags)
        mode = ("rb", "wb", "r+b")[flags & os.O_ACCMODE]
        handle.readfile = handle.writefile = os.fdopen(number, mode)
        return handle

    def remove(self, path):
        """Remove a file."""
        return tried(os.remove, inside(path))

    def rename(self, old, new):
        """Rename a file."""
        return tried(os.rename, inside(old), inside(new))

    def mkdir(self, path, attr):
        """Make a directory."""
        return tried(os.mkdir, inside(path))

    def rmdir(self, path):
        """Remove a directory."""
        return tried(os.rmdir, inside(path))

    def chattr(self, path, attr):
        """Accept attributes."""
        return paramiko.SFTP_OK


class Login(paramiko.ServerInterface):
    """One user with a password."""

    def check_auth_password(self, username, given):
        """Let one user in."""
        right = (username, given) == (user, password)
        return paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED

    def get_allowed_auths(self, username):
        """By password."""
        return "password"

    def check_channel_request(self, kind, channel):
        """A session."""
        return paramiko.OPEN_SUCCEEDED


def serve(connection):
    """One connection."""
    transport = paramiko.Transport(connection)
    transport.add_server_key(paramiko.Ed25519Key.from_private_key_file(key))
    transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
    try:
        transport.start_server(server=Login())
    except (paramiko.SSHException, EOFError):
        transport.close()


listener = socket.create_server(("127.0.0.1", int(port)))
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
