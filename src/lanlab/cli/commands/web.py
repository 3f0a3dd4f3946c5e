"""`lanlab web`: the runs of a store in a browser, live."""

from __future__ import annotations

import sys

from lanlab.cli.options.shared import JsonOption, StoreOption, flag, option
from lanlab.cli.terminal.remarks import print_json, print_lines


def web(
    port: int = option("--port", "NUMBER", "Port; 0: any free port.", 0, min=0, max=65_535),
    open_browser: bool = flag("--open", "Also open the page in the default browser."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the runs of a store in a browser, until Ctrl-C.

    The page follows a run: finished trials, means and intervals so far, where messages were lost,
    and the next trials. It also compares runs and shows their reports. It is read-only and listens
    on 127.0.0.1; the printed address contains a new token at each start.

    Examples: lanlab web --open; lanlab web --store results.sqlite --port 8080
    """
    from lanlab.store import default_store, open_store
    from lanlab.store.place import store_place
    from lanlab.web.server import WebServer, lower_priority, opened_in_browser

    # Refuse what cannot be a store. A missing store may be created by the first run.
    with open_store(store):
        pass
    lower_priority()
    server = WebServer(store, port)
    try:
        if as_json:
            print_json({"url": server.url})
        else:
            place = store_place(store)
            shown = "that database" if isinstance(place, str) else store or default_store()
            print_lines(f"store       {shown}")
            print_lines(f"page        {server.url}")
            print_lines("end it with Ctrl-C")
        sys.stdout.flush()
        with opened_in_browser(server.url if open_browser else None):
            server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        # Ctrl-C is the normal end.
        pass
    finally:
        server.close()
