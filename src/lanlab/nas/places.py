"""URLs of servers that lack a share, bucket or export."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from lanlab.services import schemes

#: Stands for the share that is still to be found.
_UNKNOWN = "unknown"


def lacks_place(text: str) -> bool:
    """Whether a URL of SMB 2/3, S3 or NFS 4 names no share, bucket or export."""
    parts = urlsplit(text)
    found = schemes().get(parts.scheme.lower())
    listed = ("smb", "s3", "s3s", "nfs4")
    return found is not None and found.name in listed and not parts.path.strip("/")


def with_place(text: str, place: str | None = None) -> str:
    """
    A URL that lacks a share, bucket or export, with one.

    Args:
        place: Its name; by default one that stands for any.

    Examples:
        >>> with_place("s3://me@nas:9000?region=eu", "my photos")
        's3://me@nas:9000/my%20photos?region=eu'
    """
    path = f"/{quote((place or _UNKNOWN).lstrip('/'), safe='$/')}"
    return urlsplit(text)._replace(path=path).geturl()
