"""A worker's messages, at any time or missing, cost only its own points and never cause a grader fault.

`tests/fuzz/protocol.py` tests the same with a coverage-guided fuzzer.
"""

import json
from typing import Any

import pytest
from hostile import MuteTree, ask, frame, one_of_each, requests, saying
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import WorkerFault
from grader.inside import protocol
from grader.records import Status

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
MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def message(kind: bytes, body: Any) -> bytes:
    return frame(kind + json.dumps(body).encode())


@MANY
@given(name=NAMES, said=st.lists(FRAME, max_size=6), hangs_up=st.booleans())
def test_frames_in_any_order_with_any_content_end_in_an_answer_or_a_fault_of_its_own(
    name: str, said: list[tuple[bytes, Any]], hangs_up: bool
) -> None:
    ask(name, b"".join(message(kind, body) for kind, body in said), hangs_up=hangs_up)


@MANY
@given(name=NAMES, stream=st.binary(max_size=200), hangs_up=st.booleans())
def test_bytes_that_are_no_frames_end_in_a_fault_of_its_own(name: str, stream: bytes, hangs_up: bool) -> None:
    ask(name, stream, hangs_up=hangs_up)


@MANY
@given(
    name=NAMES,
    said=st.lists(FRAME, min_size=1, max_size=3),
    at=st.floats(0, 1),
    changed=st.binary(min_size=1, max_size=6),
)
def test_frames_with_a_few_bytes_changed_end_in_an_answer_or_a_fault_of_its_own(
    name: str, said: list[tuple[bytes, Any]], at: float, changed: bytes
) -> None:
    stream = bytearray(b"".join(message(kind, body) for kind, body in said))
    place = int(at * (len(stream) - 1))
    stream[place : place + len(changed)] = changed
    ask(name, bytes(stream), hangs_up=True)


@pytest.mark.parametrize(
    ("stream", "statuses"),
    [
        (b"", {Status.TIMED_OUT}),
        (frame(b"D") * 200, {Status.WRONG, Status.PROTOCOL_VIOLATION, None}),
        ((1 << 31).to_bytes(4, "little"), {Status.PROTOCOL_VIOLATION}),
        (frame(b"D")[:3], {Status.TIMED_OUT, Status.PROTOCOL_VIOLATION}),
        (frame(b"H"), {Status.PROTOCOL_VIOLATION}),
        (b"D" * 90_000, {Status.PROTOCOL_VIOLATION}),
    ],
    ids=["not at all", "too often", "too much", "half", "another word", "noise"],
)
def test_each_way_of_answering_badly_has_its_status(stream: bytes, statuses: set[Status | None]) -> None:
    faults = {name: ask(name, stream, hangs_up=False) for name in one_of_each()}
    found = {name: fault.status if fault else None for name, fault in faults.items()}
    if stream:  # the worker must not have sent anything before the request of a timed call
        assert found.pop("timed") is Status.PROTOCOL_VIOLATION
    assert {name: status for name, status in found.items() if status not in statuses} == {}


def test_hanging_up_is_a_crash() -> None:
    faults = {name: ask(name, b"", hangs_up=True) for name in one_of_each()}
    assert {name for name, fault in faults.items() if not fault or fault.status is not Status.CRASHED} == set()


def test_what_one_worker_says_is_never_taken_for_anothers() -> None:
    loud, quiet = message(b"D", {"answer": "mine"}) * 3, message(b"D", {"answer": "other"})
    with (
        saying(loud, hangs_up=True, tree=MuteTree()) as one,
        saying(quiet, hangs_up=True, tree=MuteTree()) as other,
    ):
        asked = [worker.values("f", [], lambda _name, _arguments: None, 1) for worker in (one, other, one)]
        assert [said["answer"] for said in asked] == ["mine", "other", "mine"]
        with pytest.raises(WorkerFault):
            other.values("f", [], lambda _name, _arguments: None, 1)
