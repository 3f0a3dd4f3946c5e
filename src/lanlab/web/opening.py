"""How `lanlab web` opens the page in the user's browser."""

from __future__ import annotations

import contextlib
import html
import os
from collections.abc import Iterator

from lanlab.disk import TemporaryFolder, entry

_NICENESS = 10


def lower_priority() -> None:
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)


@contextlib.contextmanager
def opened_in_browser(url: str | None) -> Iterator[None]:
    """
    Open a URL in the default browser through a file that only this user can read, and remove the
    file afterwards. The token must not be in the arguments of the browser's process, because every
    user can see those.

    Args:
        url: `None` opens nothing.
    """
    if url is None:
        yield
        return
    import webbrowser

    with TemporaryFolder("lanlab-web-") as folder:
        file = folder / "open.html"
        escaped = html.escape(url, quote=True)
        text = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>lanlab</title>'
            f'<meta http-equiv="refresh" content="0; url={escaped}">'
            f'<p><a href="{escaped}">Open the page</a></p>'
        )
        with entry(folder, file.name) as place, place.create(0o600) as opened:
            opened.write(text.encode())
        webbrowser.open(file.as_uri())
        yield
