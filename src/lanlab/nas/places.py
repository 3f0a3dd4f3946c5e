"""URLs of servers that lack a share or bucket."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from lanlab.services import schemes

#: Stands for the share that is still to be found.
_UNKNOWN = "unknown"


def lacks_place(text: str) -> bool:
    """Whether a URL of SMB 2/3 or S3 names no share or bucket."""
    parts = urlsplit(text)
    found = schemes().get(parts.scheme.lower())
    return found is not None and found.name in ("smb", "s3", "s3s") and not parts.path.strip("/")


def with_place(text: str, place: str | None = None) -> str:
    """
    A URL that lacks a share or bucket, with one.

    Args:
        place: Its name; by default one that stands for any.

    Examples:
        >>> with_place("s3://me@nas:9000?region=eu", "my photos")
        's3://me@nas:9000/my%20photos?region=eu'
    """
    return urlsplit(text)._replace(path=f"/{quote(place or _UNKNOWN, safe='$')}").geturl()
