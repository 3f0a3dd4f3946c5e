"""Server URLs without a share, bucket or export."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from lanlab.services import schemes

#: Placeholder for a share that is not yet known.
_UNKNOWN = "unknown"


def lacks_place(text: str) -> bool:
    """Whether a URL of SMB 2/3, S3 or NFS names no share, bucket or export."""
    parts = urlsplit(text)
    found = schemes().get(parts.scheme.lower())
    listed = ("smb", "s3", "s3s", "nfs", "nfs4")
    return found is not None and found.name in listed and not parts.path.strip("/")


def with_place(text: str, place: str | None = None) -> str:
    """
    Add a share, bucket or export to a URL if it lacks one.

    Args:
        place: Its name; by default a placeholder for any.

    Examples:
        >>> with_place("s3://me@nas:9000?region=eu", "my photos")
        's3://me@nas:9000/my%20photos?region=eu'
    """
    if not lacks_place(text):
        return text
    path = f"/{quote((place or _UNKNOWN).lstrip('/'), safe='$/')}"
    return urlsplit(text)._replace(path=path).geturl()
