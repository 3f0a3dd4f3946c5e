"""
The abilities of a program, as data, and the reason why it cannot measure a condition.

A parameter for which a program has no option must keep lanlab's default: any other value is refused
before anything runs, never silently ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from lanlab.frozen import dataclass

#: Parameters of a stream or an echo; a driver is only given those that it supports.
Measured = Any
#: Parameters that every driver supports: by an option, by pinning its process, or because they
#: control how long lanlab waits.
_ALWAYS = frozenset(
    {
        "driver",
        "transport",
        "ip_version",
        "message_size_bytes",
        "time_s",
        "warmup_s",
        "sender_processor",
        "receiver_processor",
        "silence_s",
    }
)
_BUFFERS = ("send_buffer_bytes", "receive_buffer_bytes")

#: How to measure the same otherwise, by parameter.
_INSTEAD = {
    "traffic_direction": "; `--from HOST` in place of `--to HOST` measures the other direction"
}

Transport = Literal["udp", "tcp"]


@dataclass(frozen=True)
class Abilities:
    #: Transports, with the shortest and the longest message of each, bytes.
    sizes: Mapping[Transport, tuple[int, int]] = field(
        default_factory=lambda: {"udp": (1, 65_507), "tcp": (1, 2**20)}
    )
    ip_versions: tuple[int, ...] = (4, 6)
    takes: frozenset[str] = frozenset()
    #: For some parameters, the only supported values.
    values: Mapping[str, tuple[object, ...]] = field(
        default_factory=lambda: {"io": ("auto", "single"), "receive": ("auto", "block")}
    )
    #: Whether the time must be a whole number of seconds.
    whole_seconds: bool = True
    #: The only warm-ups that the program can omit: whole seconds up to a limit, or one time (s).
    warmup_whole_s: int = 0
    warmup_fixed_s: float | None = None
    #: Default warm-up, seconds: the shortest useful one that the program can omit.
    default_warmup_s: float = 0.0
    #: `apart`: one option per buffer; `alike`: one for both, which must be equal.
    buffers: Literal["apart", "alike", "none"] = "none"
    most_flows: int = 1

    def problem(self, name: str, parameters: Measured) -> str | None:
        """Why program `name` cannot measure a condition; `None` if it can."""
        found = (
            self._flow(parameters)
            or self._times(parameters)
            or self._buffers(parameters)
            or self._options(parameters)
        )
        return None if found is None else f"tool `{name}`: {found}"

    def _flow(self, parameters: Measured) -> str | None:
        transport, size = parameters.transport, parameters.message_size_bytes
        if transport not in self.sizes:
            return f"found transport {transport}; allowed: {', '.join(self.sizes)}"
        if parameters.ip_version not in self.ip_versions:
            allowed = ", ".join(map(str, self.ip_versions))
            return f"found ip_version {parameters.ip_version}; allowed: {allowed}"
        least, most = self.sizes[transport]
        if not least <= size <= most:
            return f"found message_size_bytes {size}; allowed over {transport}: {least} to {most}"
        flows = getattr(parameters, "flows", 1)
        if flows > self.most_flows:
            return f"found flows {flows}; allowed: 1 to {self.most_flows}"
        return None

    def _times(self, parameters: Measured) -> str | None:
        time_s = getattr(parameters, "time_s", None)
        if time_s is None:
            return "found no time_s; allowed: a time, no number of messages, bytes or requests"
        if self.whole_seconds and time_s != int(time_s):
            return f"found time_s {time_s:g}; allowed: whole seconds"
        warmup_s = parameters.warmup_s
        if self.warmup_fixed_s is not None:
            if warmup_s != self.warmup_fixed_s:
                return f"found warmup_s {warmup_s:g}; allowed: {self.warmup_fixed_s:g}, its own"
        elif warmup_s != int(warmup_s) or warmup_s > self.warmup_whole_s:
            allowed = "0, as it has none"
            if self.warmup_whole_s:
                allowed = f"whole seconds, 0 to {self.warmup_whole_s}"
            return f"found warmup_s {warmup_s:g}; allowed: {allowed}"
        return None

    def _buffers(self, parameters: Measured) -> str | None:
        given = [getattr(parameters, key) for key in _BUFFERS]
        if self.buffers == "none":
            for key, value in zip(_BUFFERS, given, strict=True):
                if value is not None:
                    return f"found {key} {value}; allowed: none, as it has no option for it"
        if self.buffers == "alike" and given[0] != given[1]:
            return (
                f"found send_buffer_bytes {given[0]}, receive_buffer_bytes {given[1]}; "
                "allowed: both alike, as it has one option for them"
            )
        return None

    def _options(self, parameters: Measured) -> str | None:
        free = _ALWAYS | self.takes | {"flows", *_BUFFERS}
        for key, field_info in type(parameters).model_fields.items():
            value = getattr(parameters, key)
            if key in self.values:
                if value not in self.values[key]:
                    allowed = ", ".join(map(_shown, self.values[key]))
                    return f"found {key} {_shown(value)}; allowed: {allowed}"
            elif key == "congestion_control" and key in free:
                if value is not None and "," in value:
                    return f"found {key} {value}; allowed: one"
            elif key not in free and value != field_info.default:
                return (
                    f"found {key} {_shown(value)}; "
                    f"allowed: {_shown(field_info.default)}, as lanlab cannot set it with this tool"
                    f"{_INSTEAD.get(key, '')}"
                )
        return None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value}"
