"""Properties of the paths between hosts that can surprise a user."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.trial_data import PacketBounds, PathSeen


def path_cautions(paths: Mapping[str, PathSeen]) -> list[str]:
    """
    Sentences without a full stop on paths that carry less than the interfaces at their ends.

    Examples:
        >>> bounds = {"least_bytes": 1420, "most_bytes": 1420}
        >>> path = {"interface_mtu_bytes": 1500, "there": bounds, "back": bounds, "was_told": True}
        >>> path_cautions({"pc1 to nas": path})
        ['between pc1 and nas packets of up to 1420 B pass, though the interfaces take 1500 B: a \
router on the path reports it, as at the start of a tunnel']
    """
    said = []
    for ends, path in paths.items():
        there, back = path["there"], path["back"]
        if there is None or back is None:
            continue
        back_mtu_bytes = path["interface_mtu_bytes"]
        # Earlier versions recorded only the smaller MTU of both ends.
        mtu_bytes = path.get("sender_mtu_bytes", back_mtu_bytes)
        if there["most_bytes"] >= mtu_bytes and back["most_bytes"] >= back_mtu_bytes:
            continue
        if back["least_bytes"] >= there["most_bytes"]:
            what = f"between {ends.replace(' to ', ' and ')} packets of {_up_to(there)} pass"
        else:
            what = f"from {ends} packets of {_up_to(there)} pass, and of {_up_to(back)} back"
        why = (
            "a router on the path reports it, as at the start of a tunnel"
            if path["was_told"]
            else "longer ones are lost and no router reports it; to TCP the host may seem dead"
        )
        first = ends.rpartition(" to ")[0]
        takes = (
            f"the interfaces take {mtu_bytes} B"
            if mtu_bytes == back_mtu_bytes
            else f"the interface of {first} takes {mtu_bytes} B"
        )
        said.append(f"{what}, though {takes}: {why}")
    return said


def _up_to(bounds: PacketBounds) -> str:
    least, most = bounds["least_bytes"], bounds["most_bytes"]
    return f"up to {most} B" if least == most else f"up to {least} B, or {most} B at most,"
