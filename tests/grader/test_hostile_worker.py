"""A worker's messages, at any time or missing, cost only its own points and never cause a grader fault.

`tests/fuzz/protocol.py` tests the same with a coverage-guided fuzzer.
"""

import json
import socket
import struct
from typing import Any

import pytest
from hostile import ask, requests, saying
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import WorkerFault
from grader.inside import protocol
from grader.inside.protocol import Channel, ProtocolError
from grader.records import Status

NAMES = sorted(requests())
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
MANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def frame(kind: bytes, body: Any = None) -> bytes:
    payload = kind if body is None else kind + json.dumps(body).encode()
    return struct.pack("<I", len(payload)) + payload


@MANY
@given(name=st.sampled_from(NAMES), said=st.lists(FRAME, max_size=6), hangs_up=st.booleans())
def test_frames_in_any_order_with_any_content_end_in_an_answer_or_a_fault_of_its_own(
    name: str, said: list[tuple[bytes, Any]], hangs_up: bool
) -> None:
    ask(name, b"".join(frame(kind, body) for kind, body in said), hangs_up=hangs_up)


@MANY
@given(name=st.sampled_from(NAMES), stream=st.binary(max_size=200), hangs_up=st.booleans())
def test_bytes_that_are_no_frames_end_in_a_fault_of_its_own(name: str, stream: bytes, hangs_up: bool) -> None:
    ask(name, stream, hangs_up=hangs_up)


@MANY
@given(
    name=st.sampled_from(NAMES),
    said=st.lists(FRAME, min_size=1, max_size=3),
    at=st.floats(0, 1),
    changed=st.binary(min_size=1, max_size=6),
)
def test_frames_with_a_few_bytes_changed_end_in_an_answer_or_a_fault_of_its_own(
    name: str, said: list[tuple[bytes, Any]], at: float, changed: bytes
) -> None:
    stream = bytearray(b"".join(frame(kind, body) for kind, body in said))
    place = int(at * (len(stream) - 1))
    stream[place : place + len(changed)] = changed
    ask(name, bytes(stream), hangs_up=True)


@given(text=st.binary(max_size=300))
def test_reading_an_object_ends_in_one_or_in_a_protocol_error(text: bytes) -> None:
    try:
        body = protocol.parse(text)
    except ProtocolError:
        return
    assert isinstance(body, dict)
    json.dumps(body).encode()


@given(pieces=st.lists(st.binary(min_size=1, max_size=7), max_size=10), body=CLAIMS)
def test_how_the_bytes_arrive_does_not_matter(pieces: list[bytes], body: dict[str, Any]) -> None:
    one, two = socket.socketpair()
    with one, two:
        one.setblocking(False)
        text = frame(protocol.DONE, body)
        for piece in [*pieces, text]:
            two.send(frame(protocol.DONE, {"piece": piece.hex()})[: len(piece) + 20])
            two.send(frame(protocol.DONE, {"piece": piece.hex()})[len(piece) + 20 :])
        channel = Channel(one.fileno())
        for piece in [*pieces, text]:
            assert channel.receive(1) == (protocol.DONE, {"piece": piece.hex()})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("stream", "statuses"),
    [
        (b"", {Status.TIMED_OUT}),
        (frame(b"D") * 200, {Status.WRONG, Status.PROTOCOL_VIOLATION, None}),
        (struct.pack("<I", 1 << 31), {Status.PROTOCOL_VIOLATION}),
        (frame(b"D")[:3], {Status.TIMED_OUT, Status.PROTOCOL_VIOLATION}),
        (frame(b"H"), {Status.PROTOCOL_VIOLATION}),
        (b"D" * 90_000, {Status.PROTOCOL_VIOLATION}),
    ],
    ids=["not at all", "too often", "too much", "half", "another word", "noise"],
)
def test_each_way_of_answering_badly_has_its_status(name: str, stream: bytes, statuses: set[Status | None]) -> None:
    fault = ask(name, stream, hangs_up=False)
    if name == "timed" and stream:  # the worker must not have sent anything before the request
        statuses = {Status.PROTOCOL_VIOLATION}
    assert (fault.status if fault else None) in statuses


@pytest.mark.parametrize("name", NAMES)
def test_hanging_up_is_a_crash(name: str) -> None:
    fault = ask(name, b"", hangs_up=True)
    assert fault
    assert fault.status is Status.CRASHED


def test_what_one_worker_says_is_never_taken_for_anothers() -> None:
    loud, quiet = frame(b"D", {"answer": "mine"}) * 3, frame(b"D", {"answer": "other"})
    with saying(loud, hangs_up=True, tensors=False) as one, saying(quiet, hangs_up=True, tensors=False) as other:
        asked = [worker.values("f", [], lambda _name, _arguments: None, 1) for worker in (one, other, one)]
        assert [said["answer"] for said in asked] == ["mine", "other", "mine"]
        with pytest.raises(WorkerFault):
            other.values("f", [], lambda _name, _arguments: None, 1)
