"""`lanlab load`: measure round trips idle and during streams."""

from __future__ import annotations

from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.running.settings import RunSettings, with_run_settings
from lanlab.errors import UsageError

_ALL = "none,up,down,both"
_BULK, _ONE_FRAME = "16KiB", "1408"
_SIZES = "16 KiB over TCP, 1408 over UDP"
_FIRST = ("load", "flows", "transport", "rate_bps", "time_s", "warmup_s")


@with_run_settings(trials=3, simulated=False)
@ParametersOf(
    "load",
    first=(*_FIRST, "message_size_bytes"),
    defaults={"load": _ALL, "message_size_bytes": _SIZES},
    takes_lists=True,
)
def load(given: Given, settings: RunSettings) -> None:
    """Measure latency under load: round trips alone and with streams.

    Measures each --load --trials times in random order, always including the echo alone.

    The growth of the round-trip time is computed within each block of trials. The streams start
    before the echo counts and outlast it. Most options take a list (1,4,16) or a range (1..16/x2
    to double); lanlab then measures all combinations.

    Examples: lanlab load --link 10M; lanlab load --link 10M --load both -P 1,4 --trials 5;
    lanlab load --link 10M --transport udp --rate 8M,12M --size 1408;
    lanlab load --to alice@nas --time 10
    """
    from lanlab.cli.running import single

    given["load"] = _with_echo_alone(given["load"])
    if given["message_size_bytes"] == _SIZES:
        given["message_size_bytes"] = _ONE_FRAME if given["transport"] == "udp" else _BULK
    single.measure_and_answer("load", given, settings)


def _with_echo_alone(wanted: str) -> str:
    named = [each.strip() for each in wanted.split(",")]
    if named == ["none"]:
        raise UsageError(
            "--load: found only `none`; add up, down or both",
            hint="`lanlab echo` measures round trips without load",
        )
    return ",".join(named if "none" in named else ["none", *named])
