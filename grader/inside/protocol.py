"""The messages between the grader's own process (the supervisor) and a worker, which runs a submission.

They travel on a channel of `harness.processes.channel`. The JSON text is empty for timed calls. Tensors, and the plain
values of timed calls, are not sent in messages, but in shared memory. Messages give the offsets of tensors there.

The worker runs this file too, inside the sandbox, so it imports only the standard library and the channel's file.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.processes.channel import Channel, Closed, Late, ProtocolError, frame, parse

__all__ = ["Channel", "Closed", "Late", "ProtocolError", "frame", "parse"]

LENGTH_BYTES: Final = 8  # the size of the number before the JSON text of timed answers, which is in shared memory

# From the supervisor to the process that forks workers:
FORK: Final = b"f"  # fork a worker with these limits; its three descriptors follow with one byte
REAP: Final = b"w"  # wait for the end of a worker

# From the supervisor to a worker:
LOAD: Final = b"l"  # load a source text
TENSORS: Final = b"t"  # call a function once with tensors in shared memory
ARRANGE: Final = b"a"  # prepare the tensors of later timed calls
ARRANGE_VALUES: Final = b"p"  # prepare later timed calls with plain values in shared memory
GO: Final = b"g"  # make one timed call
SLOW: Final = b"s"  # use this much more CPU time in each later timed call, for a control
VALUES: Final = b"v"  # call a function with plain values and simulated functions
ANSWER: Final = b"A"  # the result of a simulated function

# To the supervisor:
HELLO: Final = b"H"  # the process is ready
DONE: Final = b"D"  # a request is done
RAISED: Final = b"R"  # the submission raised an exception
SIMULATED: Final = b"M"  # the submission calls a simulated function


def plain(value: Any) -> Any:
    """Return an equal value of the types of JSON: None, a boolean, a number, a text, a list or a dict.

    Numbers may also be of NumPy, torch, `fractions` or `decimal`. Sequences, arrays and tensors become lists, and
    mappings become dicts. For any other value, raise `TypeError` with the name of its type.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "as_integer_ratio"):
        numerator, denominator = value.as_integer_ratio()
        return numerator if denominator == 1 else numerator / denominator
    raise TypeError(type(value).__name__)
