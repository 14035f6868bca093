"""A worker's messages, at any time or missing, cost only its own points and never cause a grader fault."""

import contextlib
import json
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hostile import MuteTree, ask, frame, one_of_each, requests, saying
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader import catalogue
from grader.errors import WorkerFault
from grader.inside import protocol
from grader.kinds import values
from grader.records import Status
from grader.task import ValueExam
from grader.trials import native
from grader.trials.faults import Raised, blame_submission, fault_of, untrusted
from grader.trials.turns import TimedAnswer
from harness.machine.clocks import ProcessGoneError
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, stream=STREAM, hangs_up=st.booleans())
def test_any_bytes_and_frames_end_in_an_answer_or_a_fault_of_its_own(name: str, stream: bytes, hangs_up: bool) -> None:
    ask(name, stream, hangs_up=hangs_up)


@pytest.mark.long
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, stream=STREAM, hangs_up=st.booleans())
def test_so_do_many_more(name: str, stream: bytes, hangs_up: bool) -> None:
    ask(name, stream, hangs_up=hangs_up)


@pytest.mark.parametrize(
    ("stream", "statuses", "hangs_up"),
    [
        (b"", {Status.TIMED_OUT}, False),
        (b"", {Status.CRASHED}, True),
        (frame(b"D") * 200, {Status.WRONG, Status.PROTOCOL_VIOLATION, None}, False),
        ((1 << 31).to_bytes(4, "little"), {Status.PROTOCOL_VIOLATION}, False),
        (frame(b"D")[:3], {Status.TIMED_OUT, Status.PROTOCOL_VIOLATION}, False),
        (frame(b"H"), {Status.PROTOCOL_VIOLATION}, False),
        (b"D" * 90_000, {Status.PROTOCOL_VIOLATION}, False),
    ],
    ids=["not at all", "hanging up", "too often", "too much", "half", "another word", "noise"],
)
def test_each_bad_answer_has_its_status(stream: bytes, statuses: set[Status | None], hangs_up: bool) -> None:
    faults = {name: ask(name, stream, hangs_up=hangs_up) for name in one_of_each()}
    found = {name: fault.status if fault else None for name, fault in faults.items()}
    if stream:  # the worker must not have sent anything before the request of a timed call
        assert found.pop("timed") is Status.PROTOCOL_VIOLATION
    assert {name: status for name, status in found.items() if status not in statuses} == {}


TEXTS = st.sampled_from(["", "\ud800", "\x00", "a\u2028b", "é" * 3000, "{0}", "%s", "\x1b[31m"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from([10**400, -1, 2**63, 1 << 20]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
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
    for name, stream in product(one_of_each(), streams):
        ask(name, stream, hangs_up=True)


FAILURES: tuple[Callable[[], Exception], ...] = (
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no text"),
    lambda: ValueError("not a number"),
    lambda: IndexError("a field is missing"),
    lambda: KeyError("VmHWM"),
    ProcessLookupError,
    FileNotFoundError,
    PermissionError,
    lambda: ProcessGoneError("gone"),
    lambda: OverflowError("too large"),
)
SERVED = frame(b"D{}") * 2 + frame(b'M{"name":"run","arguments":[]}') + frame(b"D{}") * 2


@pytest.mark.parametrize("reading", ["fork", "watch", "check_no_helpers", "pin", "spent_s", "cpu_s"])
def test_whatever_a_reading_raises_is_a_verdict(reading: str) -> None:
    """A worker that answers well makes its supervisor read everything that it reads of a tree."""

    def use(error: Callable[[], Exception]) -> None:
        def fails(*_: object, **__: object) -> None:
            raise error()

        tree = MuteTree()
        setattr(tree, reading, fails)
        with saying(SERVED, hangs_up=True, tree=tree) as one, blame_submission("f"):
            one.load("")
            requests()["arrange"](one)
            one.values("f", [], lambda _name, _arguments: None, 1)
            one.check_no_helpers()
            one.slow(0.0)

    for error in FAILURES:
        with pytest.raises(WorkerFault) as caught:
            use(error)
        assert caught.value.status in {Status.PROTOCOL_VIOLATION, Status.CRASHED}


@settings(deadline=None)
@given(text=st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
@example(text=b"9" * 5000)
@example(text=b"[" * 60000)
@example(text=b'["\\ud800"]')
@example(text=b"[1e999]")
@example(text=b'1,"answers":[[]]')
def test_no_timed_answer_is_a_fault_of_the_graders(text: bytes) -> None:
    task = next(task for task in catalogue.load().tasks("13_bytecode") if task.name == "run")
    assert isinstance(task.exam, ValueExam)
    one = values.ValueInput(task.exam.timed(np.random.default_rng(0)))
    with pytest.raises(WorkerFault), untrusted(task.name):
        one.check_timed(TimedAnswer(text), None)


@given(
    told=st.dictionaries(st.sampled_from(["libraries", "fault", "line", "message"]), VALUES),
    body=st.dictionaries(st.sampled_from(["type", "message", "line", "memory", "errno", "frames"]), VALUES),
)
@example(told={"libraries": {"checked": "a", "timed": 1}}, body={})
@example(told={"fault": [1], "line": True, "message": None}, body={})
def test_no_text_of_a_submission_is_a_fault_of_the_grader(told: dict[str, Any], body: dict[str, Any]) -> None:
    with contextlib.suppress(WorkerFault), untrusted("f"):
        fault = native._fault("f", told)
        assert fault is None or fault.status is not Status.GRADER_ERROR
    assert fault_of(Raised(body), "f").status in {Status.RAISED, Status.OUT_OF_MEMORY}
