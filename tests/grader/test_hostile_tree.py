"""Reading facts about a hostile process tree gives a value or a verdict, never a fault of the grader."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hostile import ask, requests
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from trees import bare

from grader import catalogue
from grader.errors import WorkerFault
from grader.inside import protocol
from grader.isolation.confined_program import ProgramResult
from grader.isolation.forkserver import ForkServer
from grader.limits import Limits
from grader.records import Status
from grader.session import Session
from grader.task import CountedExam, Task
from grader.trials import counted_process, native
from grader.trials.faults import Raised, blame_submission, fault_of, untrusted
from grader.trials.worker_client import WorkerClient, worker
from harness.machine.clocks import ProcessGoneError

LIMITS = Limits(load_s=20, call_s=20, memory_bytes=300 << 20)
NAMED = """
import ctypes
libc = ctypes.CDLL(None)
def f(name): return libc.prctl(15, bytes.fromhex(name) + bytes(1), 0, 0, 0)
"""
NAMES = st.binary(min_size=1, max_size=20) | st.sampled_from(
    [b"VmHWM: 1 kB", b"\xff\xfe", b"\nRssAnon: 0 kB", b"\x0bVmSwap: 9 kB", b") Z 1 1", b"a) (b", b"Threads:\t7", b"kB"]
)
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
    b'D{"shape":[99999999999999999999999],"dtype":"float32"}',
    b'D{"shape":[4294967296,4294967296,4294967296],"dtype":"float64"}',
    b'D{"shape":[9223372036854775807,0],"dtype":"complex128"}',
    b'D{"shape":[true,1.0,"3"],"dtype":"float32"}',
    b'D{"shape":{"0":1},"dtype":["float32"]}',
    b'D{"shape":[],"dtype":"float32","type":{"a":[1]}}',
    b'D{"shape":[1],"dtype":"float32","shape":[-1]}',
    b'D{"problem":[[1]],"answer":' + b"9" * 5000 + b"}",
    b'D{"answer":' + b"[" * 40 + b"]" * 40 + b"}",
    b'D{"answer":' + b"[" * 60000 + b"]" * 60000 + b"}",
    b'R{"type":[1],"message":{"a":NaN},"line":1e999,"errno":[],"frames":{"a":1}}',
    b'R{"type":null,"message":null,"line":-1,"errno":1e999,"frames":[[1],[1e999,"f","g"],[2,3,4]]}',
    b'R{"line":true,"frames":[[1,"\\u202e","\\u0000"],[[],[],[]]]}',
    b'M{"name":"run","arguments":[1e999]}',
    b'M{"name":"clock","arguments":[{"a":[NaN]}]}',
    b"D[1]",
    b'D"text"',
    b"D1",
    b"D\xff\xfe",
    b"D{",
    b"\xff{}",
)


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "little") + payload


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_message_is_a_fault_of_the_graders(payload: bytes) -> None:
    for name in requests():
        ask(name, frame(payload) * 3, hangs_up=True)


@pytest.mark.parametrize("length", [0, 1, protocol.MAX_FRAME_BYTES, protocol.MAX_FRAME_BYTES + 1, 2**31, 2**32 - 1])
def test_no_length_of_a_message_is_a_fault_of_the_graders(length: int) -> None:
    for name in requests():
        fault = ask(name, length.to_bytes(4, "little") + b"D{}", hangs_up=True)
        assert fault or length == 1


@pytest.fixture(scope="module")
def own() -> Iterator[tuple[ForkServer, WorkerClient]]:
    with bare() as session, session.pool.fresh(tensors=False) as tree, worker(tree, LIMITS) as one:
        one.begin()
        one.load(NAMED)
        yield tree, one


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
def test_no_name_of_a_process_changes_what_is_made_of_it(own: tuple[ForkServer, WorkerClient], name: bytes) -> None:
    tree, one = own
    assert one.values("f", [{"value": name.hex()}], lambda _name, _arguments: None, 1)["answer"] == 0
    tree.watch(LIMITS)
    one.check_no_helpers()
    assert 1 << 20 < one.memory().peak < 300 << 20
    assert tree.spent_s() > 0


ERRORS: tuple[Callable[[], Exception], ...] = (
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


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("reading", ["watch", "check_no_helpers", "pin", "spent_s", "cpu_s", "fork"])
def test_whatever_a_reading_raises_is_a_verdict(
    reading: str, error: Callable[[], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error()

    def use(given_settings: Session) -> None:
        with given_settings.pool.fresh(tensors=False) as tree:
            monkeypatch.setattr(tree, reading, fails)
            with worker(tree, LIMITS) as one, blame_submission("f"):
                one.load("import time\ndef f(x): time.sleep(0.2)")
                one.begin()
                one.values("f", [{"value": 1}], lambda _name, _arguments: None, 1)
                one.check_no_helpers()
                one.slow(0.0)

    with bare() as bare_settings, pytest.raises(WorkerFault) as caught:
        use(bare_settings)
    assert caught.value.status in {Status.PROTOCOL_VIOLATION, Status.CRASHED, Status.OUT_OF_MEMORY}


def _counted() -> Task:
    return next(task for task in catalogue.load().tasks("13_bytecode") if isinstance(task.exam, CountedExam))


ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "answers": VALUES,
        "refused": VALUES,
        "raised": VALUES,
        "opcodes": VALUES,
        "key": st.just("secret") | VALUES,
    },
)


@settings(deadline=None)
@given(
    said=ANSWERS, log=st.binary(max_size=60), status=st.sampled_from([0, 1, -9]), key=st.sampled_from(["secret", ""])
)
@example(said={"refused": 1}, log=b"", status=0, key="secret")
@example(said={"raised": True}, log=b"", status=0, key="secret")
@example(said={}, log=b"==1== Collected : " + b"9" * 5000 + b"\n==1== I   refs: 9", status=0, key="")
def test_no_count_is_a_fault_of_the_graders(said: dict[str, Any], log: bytes, status: int, key: str) -> None:
    task = _counted()
    assert isinstance(task.exam, CountedExam)
    scenarios = task.exam.counted(np.random.default_rng(0))[:2]
    told = {"key": key, "counter": key, "allowed": "math"}
    try:
        with untrusted(task.name):
            ended = ProgramResult(status, json.dumps(said).encode(errors="surrogatepass"), log, "", cpu_s=1.0)
            counted_process.mismatch(scenarios, counted_process._read(task, ended, told, by_valgrind=not key).answers)
    except WorkerFault as fault:
        fault.rationale.encode()


@given(told=st.dictionaries(st.sampled_from(["libraries", "fault", "line", "message"]), VALUES))
@example(told={"libraries": {"checked": "a", "timed": 1}})
@example(told={"fault": [1], "line": True, "message": None})
def test_nothing_that_a_compiler_is_made_to_say_is_a_fault_of_the_graders(told: dict[str, Any]) -> None:
    with untrusted("f"):
        fault = native._fault("f", told)
    assert fault is None or fault.status is not Status.GRADER_ERROR


@given(body=st.dictionaries(st.sampled_from(["type", "message", "line", "memory", "errno", "frames"]), VALUES))
def test_no_exceptions_text_is_a_fault_of_the_graders(body: dict[str, Any]) -> None:
    assert fault_of(Raised(body), "f").status in {Status.RAISED, Status.OUT_OF_MEMORY}
