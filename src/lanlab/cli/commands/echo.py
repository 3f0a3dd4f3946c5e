"""`lanlab echo`: measure round trips."""

from __future__ import annotations

from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.running.settings import RunSettings, with_run_settings

_SIZE = "128"
#: TCP connections opened per second if no rate is given: without pauses, they would fill the accept
#: queue of a slow server.
_OPENINGS_PER_S = "10"
_FIRST = (
    *("peer", "transport", "message_size_bytes", "time_s", "requests"),
    *("rate_requests_per_s", "outstanding_requests"),
)


@with_run_settings(trials=1)
@ParametersOf(
    "echo", first=(*_FIRST, "timeout_s"), defaults={"message_size_bytes": _SIZE}, takes_lists=True
)
def echo(given: Given, settings: RunSettings) -> None:
    """Send requests that come back and time them.

    Stops after 3 s by default. Most options take a list (64,512,1408) or a range (100..1000/100,
    or 64..8192/x2 to double); lanlab then measures all combinations in random order.

    With --peer tcp://, lanlab opens 10 connections a second, because more can fill the queue of a
    slow server. --rate sets another pace; --outstanding 1 opens each connection as soon as the
    previous one is open.

    Examples: lanlab echo --link 100M --size 128 --time 2;
    lanlab echo --testbed loopback --rate 1000 --json;
    lanlab echo --size 64,512,1408 --time 1 --trials 5;
    lanlab echo --peer icmp://router --rate 10; lanlab echo --peer tcp://nas:445 --requests 100
    """
    from lanlab.cli.running import single

    if given["peer"] is not None:
        from lanlab.cli.options.peers import with_peer

        settings = with_peer("echo", given, settings)
        if given["message_size_bytes"] == _SIZE and given["peer"].startswith("tcp:"):
            # Opening a connection carries no data.
            given["message_size_bytes"] = None
        paces = given["rate_requests_per_s"], given["outstanding_requests"]
        opens = any(url.startswith("tcp:") for url in given["peer"].split(","))
        if opens and paces == (None, None):
            given["rate_requests_per_s"] = _OPENINGS_PER_S
    if settings.machines is not None and given["rate_requests_per_s"] is None:
        # Machines' own numbers of outstanding requests apply only to the experiments of their
        # studies.
        given["outstanding_requests"] = given["outstanding_requests"] or "1"
    if given["time_s"] is None and given["requests"] is None:
        given["time_s"] = "3"
    single.measure_and_answer("echo", given, settings)
