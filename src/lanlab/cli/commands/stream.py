"""`lanlab stream`: measure one stream."""

from __future__ import annotations

from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.options.services import DefaultRouteOption
from lanlab.cli.options.shared import option
from lanlab.cli.running.settings import RunSettings, with_run_settings

SIMULATED = "simulated"
#: iperf3's default write size.
_BULK_BYTES = 128 * 1024
#: Shown as the default; the testbed and the pace decide.
_TRANSPORT = "udp; tcp to real hosts without --rate or --io"
_FIRST = ("peer", "transport", "message_size_bytes", "time_s", "bytes", "messages", "rate_bps")


@with_run_settings(trials=1)
@ParametersOf(
    "stream",
    first=(*_FIRST, "rate_messages_per_s", "flows", "io"),
    defaults={"transport": _TRANSPORT},
    takes_lists=True,
)
def stream(
    given: Given,
    flow_rate: str | None = option(
        "--flow-rate -b", "RATE", "Sending rate of each flow, like iperf3 -b."
    ),
    interface: str | None = option(
        "--interface", "NAME", "Ethernet interface for --stack small. Needs root."
    ),
    allow_default_route: DefaultRouteOption = False,
    *,
    settings: RunSettings,
) -> None:
    """Send messages from one host to another and count what arrives.

    Stops after 3 s by default. Most options take a list (64,512,1408) or a range (1M..10M/1M, or
    64..8192/x2 to double); lanlab then measures all combinations in random order.

    Between real hosts the default is TCP, because unpaced UDP would crowd out other traffic;
    --transport, --rate or --io changes it. Unpaced TCP on an unshaped link sends messages of
    128 KiB by default.

    Examples: lanlab stream --to alice@nas;
    lanlab stream --link 10M --size 64..1024/x2 --time 1 --trials 5;
    lanlab stream --peer iperf3://nas;
    lanlab stream --testbed loopback --transport tcp --size 128KiB --json;
    lanlab stream --link 10M --size 1408 --time 3; lanlab stream --from bob@pc1 --to alice@pc2;
    lanlab stream --peer tcp://old-pc:5001 --size 1460;
    sudo lanlab stream --peer tcp://192.168.7.9:5001 --stack small --stack-address 192.168.7.77
    --interface eth1;
    lanlab stream --testbed simulated --machines vista-ipv4,vista-ipv4 --size 128
    """
    from lanlab.cli.running import single
    from lanlab.testbeds.registry import is_of_real_hosts
    from lanlab.workloads.drivers.registry import OWN

    if given["transport"] == _TRANSPORT:
        given["transport"] = None
    if flow_rate is not None:
        from lanlab.cli.options.levels import of_all_flows

        given["rate_bps"] = of_all_flows(flow_rate, given)
    if given["peer"] is not None:
        from lanlab.cli.options.peers import with_peer

        settings = with_peer("stream", given, settings)
    if interface is not None or allow_default_route or given["stack"] not in (None, "system"):
        from lanlab.cli.options.peers import at_interface

        settings = at_interface(given, settings, interface, allow_default_route=allow_default_route)
    is_endless = all(given[key] is None for key in ("time_s", "bytes", "messages"))
    is_paced = given["rate_bps"] is not None or given["rate_messages_per_s"] is not None
    is_udp = is_paced or given["io"] is not None
    if given["transport"] is None and not is_udp and is_of_real_hosts(settings.testbed):
        given["transport"] = "tcp"
    if given["message_size_bytes"] is None:
        has_amount = given["bytes"] is not None or given["messages"] is not None
        is_bulk = given["transport"] == "tcp" and not has_amount and not is_paced
        given["message_size_bytes"] = _default_size(
            is_bulk, settings.testbed, settings.link, given["driver"] or OWN
        )
    if is_endless:
        given["time_s"] = "3"
    single.measure_and_answer("stream", given, settings)


def _default_size(is_bulk: bool, testbed: str, link: str | None, driver: str) -> str:
    """
    The default size of messages.

    A message is one system call, so small ones measure the cost of calls, not the capacity of TCP.
    On a shaped link, or with a given rate or amount, a trial would have only a few hundred large
    messages, so there messages are as small as one segment.
    """
    from lanlab.testbeds.link import parse_link
    from lanlab.testbeds.registry import is_of_real_hosts
    from lanlab.workloads.drivers.registry import DRIVERS

    if testbed == SIMULATED:
        return "1408"
    has_link = testbed != "loopback" and not is_of_real_hosts(testbed)
    is_shaped = has_link and parse_link(link or "unshaped").rate_bps is not None
    others = [DRIVERS[name.strip()] for name in driver.split(",") if name.strip() in DRIVERS]
    takes = all(one.abilities()["stream"].sizes["tcp"][1] >= _BULK_BYTES for one in others)
    return str(_BULK_BYTES) if is_bulk and not is_shaped and takes else "1408"
