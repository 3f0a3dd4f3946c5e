"""
The settings of a link: a speed, a topology, and impairments.

The form is `SPEED[:TOPOLOGY][+tbf][,SETTING...]`, as in `10M`, `unshaped`, `100M:switch`, `10M:hub`
and `100M:cable,delay=1ms,loss=0.1%`. The text determines what limits the speed: lanlab's own medium
up to 100 Mbit/s, a token bucket above or with `+tbf`, nothing if `unshaped`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from lanlab.errors import UsageError, closest
from lanlab.frozen import dataclass
from lanlab.units import format_rate, parse_rate_bps, parse_share, parse_time_s, plain_number

JoinedBy = Literal["cable", "switch", "hub", "bus", "broadband"]
Shape = Literal["none", "tbf", "medium"]

#: Below it, a full frame takes more than 12 s; above the maximum, no machine keeps up.
MIN_RATE_BPS = 1_000
MAX_RATE_BPS = 10_000_000_000
#: The highest speed at which one process can time every frame individually.
MAX_MEDIUM_RATE_BPS = 100_000_000
SHARED: tuple[JoinedBy, ...] = ("hub", "bus", "broadband")

#: IEEE 802.3, table 4-2: a collision must be noticed within a slot of 512 bits, so the signal may
#: take half of it from one host to another.
_SLOT_BITS = 512
#: Two cables of 100 m and the repeater between them.
_HUB_PROPAGATION_NS = 2_500
#: Assumed: 3 km from either host to the head-end, at 4 µs/km of cable.
_BROADBAND_PROPAGATION_NS = 25_000
_MAX_DELAY_S = 10.0
#: Less than one frame a day at 100 Mbit/s is not measurable.
_MIN_LOSS_RATIO = 1e-9
_MAX_BURST_FRAMES = 1_000_000.0
_TOKEN_BUCKET = "tbf"
_PRECISE = "precise"
_EXAMPLES = "`10M`, `10M:hub` or `100M:cable,delay=1ms,loss=0.1%`"
#: The suffix for the shaper, after the topology; a `+` within a number belongs to the number.
_KEPT_BY = re.compile(r"(.*?)\+\s*([A-Za-z][\w-]*)\s*", re.DOTALL)


@dataclass(frozen=True)
class LinkRequest:
    """A requested link. `str` gives its canonical form, which `parse_link` reads."""

    #: `None` for unshaped.
    rate_bps: int | None
    #: `None`: depends on the number of hosts.
    topology: JoinedBy | None = None
    token_bucket: bool = False
    delay_ns: int = 0
    #: From one host to another over a shared wire; `None`: the topology's default.
    propagation_ns: int | None = None
    loss_ratio: float = 0.0
    #: Mean number of frames lost in a row; 1 for independent losses.
    loss_burst_frames: float = 1.0
    precise: bool = False

    @property
    def shape(self) -> Shape:
        if self.rate_bps is None:
            return "none"
        return "tbf" if self.token_bucket or self.rate_bps > MAX_MEDIUM_RATE_BPS else "medium"

    @property
    def is_shared(self) -> bool:
        return self.topology in SHARED

    def propagation(self) -> int:
        """Propagation from one host to another, ns."""
        if self.propagation_ns is not None:
            return self.propagation_ns
        if not self.is_shared or self.rate_bps is None:
            return 0
        longest_ns = half_slot_ns(self.rate_bps)
        usual = {"hub": _HUB_PROPAGATION_NS, "broadband": _BROADBAND_PROPAGATION_NS}
        return min(usual.get(str(self.topology), longest_ns), longest_ns)

    def __str__(self) -> str:
        parts = ["unshaped" if self.rate_bps is None else _scaled(self.rate_bps, _RATE_UNITS)]
        if self.topology is not None:
            parts[0] += f":{self.topology}"
        if self.token_bucket:
            parts[0] += f"+{_TOKEN_BUCKET}"
        if self.delay_ns:
            parts.append(f"delay={_scaled(self.delay_ns, _TIME_UNITS)}")
        if self.propagation_ns is not None:
            parts.append(f"propagation={_scaled(self.propagation_ns, _TIME_UNITS)}")
        if self.loss_ratio:
            hundredths = f"{100 * self.loss_ratio:.12g}%"
            is_exact = parse_share(hundredths) == self.loss_ratio
            parts.append(f"loss={hundredths if is_exact else repr(self.loss_ratio)}")
        if self.loss_burst_frames != 1:
            parts.append(f"burst={repr(self.loss_burst_frames).removesuffix('.0')}")
        if self.precise:
            parts.append(_PRECISE)
        return ",".join(parts)


def half_slot_ns(rate_bps: int) -> int:
    """Longest propagation with which every collision is noticed: the longest bus, ns.

    Examples:
        >>> half_slot_ns(10_000_000), half_slot_ns(2_000_000)
        (25600, 128000)
    """
    return _SLOT_BITS * 10**9 // (2 * rate_bps)


def parse_link(text: str) -> LinkRequest:
    """Read a link.

    Raises:
        UsageError: The text is malformed, or such a link is impossible.

    Examples:
        >>> parse_link("10M") == LinkRequest(10_000_000)
        True
        >>> str(parse_link("100 Mbit/s:cable, loss=0.001, delay=1000us"))
        '100M:cable,delay=1ms,loss=0.1%'
    """
    head, *settings = text.split(",")
    for before, after in itertools.pairwise((head, *settings)):
        # No setting begins with a digit.
        if after.lstrip()[:1].isdigit():
            raise UsageError(
                f"link: `{before},{after}` has a decimal comma; allowed: a decimal point",
                hint=f"write e.g. `{before.strip()}.{after.strip()}`",
            )
    kept = _KEPT_BY.fullmatch(head)
    if kept is not None:
        head = kept[1]
        if kept[2] != _TOKEN_BUCKET:
            raise UsageError(
                f"link: found `+{kept[2]}`; allowed: +{_TOKEN_BUCKET}, a token bucket in place of "
                "the medium",
                hint="write e.g. `100M:cable+tbf`, or omit it",
            )
    speed, separator, topology = head.partition(":")
    joined_by = _topology(topology.strip(), speed.strip()) if separator else None
    request = LinkRequest(
        _rate_bps(speed), joined_by, kept is not None, **_settings(settings, speed.strip())
    )
    _check(request)
    return request


def _topology(word: str, speed: str) -> JoinedBy:
    known = get_args(JoinedBy)
    if word in known:
        return cast(JoinedBy, word)
    if word.partition("=")[0].strip() in _SETTINGS or word == _PRECISE:
        raise UsageError(
            f"link: `{word}` is not a topology; allowed: {', '.join(known)}",
            hint=f"did you mean `{speed},{word}`?",
        )
    close = closest(word.lower(), known)
    raise UsageError(
        f"link: no topology named `{word}`; allowed: {', '.join(known)}",
        hint=f"did you mean `{speed}:{close}`?" if close else "write e.g. `10M:switch`",
    )


def _rate_bps(speed: str) -> int | None:
    if speed.strip() == "unshaped":
        return None
    try:
        rate_bps = parse_rate_bps(speed)
    except UsageError as error:
        close = closest(speed.strip().lower(), ["unshaped"], 0.75)
        meant = "did you mean `unshaped`?" if close else error.hint or ""
        raise UsageError(
            f"link: {error.message.removeprefix('rate: ')}",
            hint=meant
            if meant.startswith("did you mean")
            else "write e.g. `10M`, `unshaped`, `100M:switch` or `10M:cable,delay=5ms`",
        ) from None
    if not MIN_RATE_BPS <= rate_bps <= MAX_RATE_BPS:
        raise UsageError(
            f"link: {format_rate(rate_bps)} cannot be shaped; allowed: "
            f"{format_rate(MIN_RATE_BPS)} to {format_rate(MAX_RATE_BPS)}, or `unshaped`",
            hint="the studies' speeds are 2M, 10M and 100M",
        )
    return rate_bps


def _nanoseconds(name: str, text: str) -> int:
    time_s = parse_time_s(text)
    if time_s > _MAX_DELAY_S:
        raise UsageError(f"{name}: found `{text}`; allowed: at most {_MAX_DELAY_S:g} s")
    exact_ns = time_s * 1e9
    if abs(exact_ns - round(exact_ns)) > 1e-6:
        raise UsageError(f"{name}: `{text}` is not a whole number of nanoseconds")
    return round(exact_ns)


def _loss(name: str, text: str) -> float:
    ratio = parse_share(text)
    if ratio and not _MIN_LOSS_RATIO <= ratio < 1:
        raise UsageError(
            f"{name}: found `{text}`; allowed: 0, or {100 * _MIN_LOSS_RATIO:g} % to below 100 %"
        )
    return ratio


def _burst(name: str, text: str) -> float:
    try:
        frames = plain_number(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}", hint="give a number of frames, as `8`") from None
    if not 1 <= frames <= _MAX_BURST_FRAMES:
        raise UsageError(f"{name}: found `{text}`; allowed: 1 to {_MAX_BURST_FRAMES:,.0f} frames")
    return frames


#: Settings: the field of the request, its parser, and its format.
_SETTINGS: Mapping[str, tuple[str, Callable[[str, str], Any], str]] = {
    "delay": ("delay_ns", _nanoseconds, "delay=1ms"),
    "propagation": ("propagation_ns", _nanoseconds, "propagation=25.6us"),
    "loss": ("loss_ratio", _loss, "loss=0.1%"),
    "burst": ("loss_burst_frames", _burst, "burst=8"),
}


def _settings(parts: Sequence[str], speed: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        name, separator, value = (each.strip() for each in part.partition("="))
        if name == _PRECISE and not separator:
            field, setting = _PRECISE, True
        elif name in _SETTINGS and separator:
            field, read, example = _SETTINGS[name]
            try:
                setting = read(name, value)
            except UsageError as error:
                # The parsers of units name the quantity; the setting's name is more helpful here.
                said = error.message.partition(": ")[2]
                hint = error.hint if "did you mean" in (error.hint or "") else None
                raise UsageError(
                    f"link: {name}: {said}", hint=hint or f"write e.g. `{example}`"
                ) from None
        else:
            raise _unknown_setting(part.strip(), name, speed)
        if field in found:
            raise UsageError(f"link: `{name}` is set twice; allowed: once", hint="omit one")
        found[field] = setting
    return found


def _unknown_setting(part: str, name: str, speed: str) -> UsageError:
    known = (*_SETTINGS, _PRECISE)
    allowed = ", ".join((*(example for *_, example in _SETTINGS.values()), _PRECISE))
    hint = f"write e.g. {_EXAMPLES}"
    if part in get_args(JoinedBy):
        hint = f"did you mean `{speed}:{part}`?"
    elif name in _SETTINGS:
        hint = f"did you mean `{_SETTINGS[name][2]}`?"
    elif close := closest(name.lower(), known):
        hint = f"did you mean `{_SETTINGS[close][2] if close in _SETTINGS else close}`?"
    return UsageError(f"link: found `{part}` after a comma; allowed: {allowed}", hint=hint)


def _check(request: LinkRequest) -> None:
    only_medium = [str(request.topology)] if request.is_shared else []
    fields = {field: name for name, (field, *_) in _SETTINGS.items()} | {_PRECISE: _PRECISE}
    plain = LinkRequest(request.rate_bps, request.topology, request.token_bucket)
    only_medium += [
        name for field, name in fields.items() if getattr(request, field) != getattr(plain, field)
    ]
    if request.rate_bps is None and request.token_bucket:
        raise UsageError(
            "link: `+tbf` needs a speed; `unshaped` has none",
            hint="omit `+tbf`, or name a speed, e.g. `100M+tbf`",
        )
    if only_medium and request.shape != "medium":
        words = ", ".join(f"`{word}`" for word in only_medium)
        raise UsageError(f"link: {words} {_why_no_medium(request)}", hint=_without(request))
    if request.propagation_ns is not None:
        _check_propagation(request, request.propagation_ns)
    if request.loss_burst_frames > 1 and not request.loss_ratio:
        raise UsageError(
            "link: `burst` without `loss` has no effect", hint="write e.g. `loss=1%,burst=8`"
        )
    # On average, at least one frame lies between two bursts.
    most = request.loss_burst_frames / (request.loss_burst_frames + 1)
    if request.loss_burst_frames > 1 and request.loss_ratio > most:
        raise UsageError(
            f"link: bursts of {request.loss_burst_frames:g} frames cannot lose "
            f"{100 * request.loss_ratio:.4g} %; allowed: at most {100 * most:.4g} %, with one "
            "frame between two bursts",
            hint="use longer bursts or less loss",
        )


def _why_no_medium(request: LinkRequest) -> str:
    most = format_rate(MAX_MEDIUM_RATE_BPS)
    if request.rate_bps is None:
        return f"needs a speed; allowed: with one of at most {most}"
    if request.rate_bps > MAX_MEDIUM_RATE_BPS:
        return f"cannot be had at {format_rate(request.rate_bps)}; allowed: up to {most}"
    return "cannot be combined with a token bucket; allowed: without `+tbf`"


def _without(request: LinkRequest) -> str:
    if request.shape == "none":
        return f"name a speed, as in {_EXAMPLES}"
    if request.token_bucket and (request.rate_bps or 0) <= MAX_MEDIUM_RATE_BPS:
        return "omit `+tbf`"
    return "ask for `100M`, or for a cable or switch without delay and loss"


def _check_propagation(request: LinkRequest, propagation_ns: int) -> None:
    if not request.is_shared or request.rate_bps is None:
        raise UsageError(
            f"link: `propagation` works only with topology {' or '.join(SHARED)}",
            hint="use `delay` on a cable or switch, e.g. `100M:cable,delay=1ms`",
        )
    most_ns = half_slot_ns(request.rate_bps)
    if propagation_ns > most_ns:
        raise UsageError(
            f"link: a propagation of {_scaled(propagation_ns, _TIME_UNITS)} hides collisions; "
            f"allowed: at most {_scaled(most_ns, _TIME_UNITS)}, half a slot of {_SLOT_BITS} bits "
            f"at {format_rate(request.rate_bps)}",
            hint="use `delay` for a longer path without collisions",
        )


_RATE_UNITS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
_TIME_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))


def _scaled(value: int, units: Sequence[tuple[int, str]]) -> str:
    factor, unit = next((each for each in units if value >= each[0]), units[-1])
    whole, rest = divmod(value, factor)
    digits = f"{rest:0{len(str(factor)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}{unit}" if digits else f"{whole}{unit}"


def check_unshaped(testbed: str, link: str, hint: str) -> None:
    """
    Refuse a shaped link for a testbed on an existing network.

    Raises:
        UsageError: The link has a speed or a topology.
    """
    request = parse_link(link)
    if request.rate_bps is not None or request.topology is not None:
        raise UsageError(f"{testbed} has no link `{link}`; allowed: unshaped", hint=hint)
