"""Small studies whose runs are disturbed: short trials, two blocks."""

#: Of the trials of `mixed`: long enough to be in the middle of one, on a busy machine too.
TIME_S = 0.6
#: Of the trials of `slow`: what comes into the middle of one has time for it.
SLOW_TIME_S = 2.5
#: Of disturbed trials, in the studies of one workload.
REPEATS = 2
STUDIES = ("mixed", "slow", "udp", "tcp", "echo")

_FRAME = """
schema = 1
id = "{name}"
title = "A run that is disturbed"
{experiments}
[scale.quick]
trials = {{ min = 2, max = 2, repeat_polluted = {repeats} }}
parameters = {{ time_s = {time_s}, warmup_s = 0, silence_s = {silence_s} }}
"""
_UDP = """
[[experiment]]
id = "udp"
title = "Messages over UDP"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { rate_bps = "1M", io = "single", receive = "block", interval_s = 0.05 }
factors = { message_size_bytes = [LEVELS] }
"""
_TCP = """
[[experiment]]
id = "tcp"
title = "A stream over TCP"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { transport = "tcp", rate_bps = "1M", io = "single", receive = "block" }
"""
_ECHO = """
[[experiment]]
id = "echo"
title = "Round trips"
workload = "echo"
metrics = ["rtt_mean_ns"]
parameters = { rate_requests_per_s = 200, receive = "block" }
"""


def study_text(name: str) -> str:
    """
    A study file.

    Args:
        name: `mixed` has all workloads and gives up on silence after half a second; `slow` is the
            same with longer trials; `udp`, `tcp` and `echo` have one workload, wait for a second
            and a half, and repeat disturbed trials.
    """
    parts = {"udp": _UDP, "tcp": _TCP, "echo": _ECHO}
    mixed = name in ("mixed", "slow")
    time_s = TIME_S if name == "mixed" else SLOW_TIME_S
    experiments = "".join(parts.values()) if mixed else parts[name]
    return _FRAME.format(
        name=name,
        experiments=experiments.replace("LEVELS", "100" if mixed else "100, 200"),
        time_s=time_s,
        repeats=0 if mixed else REPEATS,
        silence_s=0.5 if mixed else 1.5,
    )
