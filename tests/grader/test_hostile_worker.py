"""A worker's messages, at any time or missing, cost only its own points and never cause a grader fault."""

import contextlib
import json
from itertools import product
from typing import Any

import pytest
from hostile import ask, frame, requests
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.errors import WorkerFault
from grader.inside import protocol
from grader.records import Status
from grader.trials import native
from grader.trials.faults import untrusted
from harness.processes.channel import MAX_FRAME_BYTES

NAMES = st.deferred(lambda: st.sampled_from(sorted(requests())))
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**4000), 2**63, -1, 0, 1e308, 5e-324, -0.0])
PLAIN = st.none() | st.booleans() | NUMBERS | st.text(max_size=8)
VALUE = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["run", "clock", "timer", "", "frobnicate"]) | VALUE, "arguments": st.lists(VALUE) | VALUE}
)
CLAIMS = st.fixed_dictionaries(
    {},
    optional={
        "answer": VALUE,
        "dtype": st.sampled_from(["float32", "float64", "complex64", "bool", "object", "O,O"]) | VALUE,
        "shape": st.lists(st.integers(0, 4) | NUMBERS, max_size=9) | VALUE,
        "type": VALUE,
        "problem": VALUE,
    },
)
ERRORS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "message", "line", "memory", "not_written", "missing", "errno"), VALUE)
)
FRAME = st.one_of(
    st.tuples(st.just(protocol.SIMULATED), CALLS),
    st.tuples(st.just(protocol.DONE), CLAIMS),
    st.tuples(st.just(protocol.RAISED), ERRORS),
    st.tuples(st.binary(min_size=1, max_size=1), st.dictionaries(st.text(max_size=4), VALUE, max_size=2)),
)


def message(kind: bytes, body: Any) -> bytes:
    return frame(kind + json.dumps(body).encode())


def stream_of(said: list[tuple[bytes, Any]], at: float = 0.0, changed: bytes = b"") -> bytes:
    """Return these messages as bytes, in which some bytes are replaced."""
    stream = bytearray(b"".join(message(kind, body) for kind, body in said))
    place = int(at * len(stream))
    stream[place : place + len(changed)] = changed
    return bytes(stream)


STREAM = (
    st.binary(max_size=200)
    | st.lists(FRAME, max_size=6).map(stream_of)
    | st.builds(stream_of, st.lists(FRAME, min_size=1, max_size=3), st.floats(0, 1), st.binary(min_size=1, max_size=6))
)


@pytest.mark.parametrize("sequences", [60, pytest.param(1000, marks=pytest.mark.long)])
def test_any_bytes_and_frames_end_in_an_answer_or_a_fault_of_its_own(sequences: int) -> None:
    @settings(max_examples=sequences, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(name=NAMES, stream=STREAM, hangs_up=st.booleans())
    def hold(name: str, stream: bytes, *, hangs_up: bool) -> None:
        ask(name, stream, hangs_up=hangs_up)

    hold()


PAYLOADS = (
    b'D{"answer":1,"answer":[2]}',
    b'D{"answer":NaN,"shape":[NaN],"dtype":NaN}',
    b'D{"answer":-Infinity,"shape":[Infinity],"dtype":"float32"}',
    b'D{"answer":1e999,"shape":[-1],"dtype":"float32"}',
    b'D{"answer":"\\ud800","shape":[2,-3],"dtype":"float32"}',
    b'D{"shape":[9223372036854775807,0],"dtype":"complex128"}',
    b'D{"problem":[[1]],"answer":' + b"9" * 5000 + b"}",
    b'D{"answer":' + b"[" * 40 + b"]" * 40 + b"}",
    b'D{"answer":' + b"[" * 60000 + b"]" * 60000 + b"}",
    b'R{"type":[1],"message":{"a":NaN},"line":1e999,"errno":[],"frames":{"a":1}}',
    b'R{"type":null,"message":null,"line":-1,"errno":1e999,"frames":[[1],[1e999,"f","g"],[2,3,4]]}',
    b'R{"line":true,"frames":[[1,"\\u202e","\\u0000"],[[],[],[]]]}',
    b'M{"name":"run","arguments":[1e999]}',
    b'M{"name":"clock","arguments":[{"a":[NaN]}]}',
    b"D[1]",
    b"D\xff\xfe",
    b"D{",
    b"\xff{}",
)


def test_no_message_is_a_fault_of_the_graders() -> None:
    """Whatever is not a fault of the submission is an exception, which `ask` raises."""
    lengths = (0, 1, MAX_FRAME_BYTES, MAX_FRAME_BYTES + 1, 2**32 - 1)
    streams = [*(frame(payload) * 3 for payload in PAYLOADS), *(n.to_bytes(4, "little") + b"D{}" for n in lengths)]
    for name, stream in product(requests(), streams):
        ask(name, stream, hangs_up=True)


@given(st.dictionaries(st.sampled_from(["libraries", "fault", "line", "message"]), VALUE))
@example({"libraries": {"checked": "a", "timed": 1}})
@example({"fault": [1], "line": True, "message": None})
def test_nothing_that_a_compiler_process_says_is_a_fault_of_the_grader(told: dict[str, Any]) -> None:
    with contextlib.suppress(WorkerFault), untrusted("f"):
        fault = native._fault("f", told)
        assert fault is None or fault.status is not Status.GRADER_ERROR
