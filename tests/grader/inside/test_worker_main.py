"""A submission's answers, and every way in which it can end its own grading, with and without the sandbox."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trees import BARE, CHANNEL, SAFE, opened

from grader.errors import WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.isolation.process_tree import TAIL_BYTES
from grader.limits import Limits
from grader.records import Status
from grader.session import Session
from grader.task import Inputs
from grader.trials import faults
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.faults import Raised
from grader.trials.inputs import Packed, pack
from grader.trials.worker_client import WorkerClient, worker

LIMITS = Limits(load_s=20, call_s=5)
HASTY = Limits(load_s=0.5, call_s=0.5, memory_bytes=300 << 20)

IMPORTED = "import numpy as np, collections as c, decimal, enum, fractions, types"
EQUAL: dict[str, Any] = {
    "[np.float32(0.5), np.arange(2), np.array(3), np.bool_(True), -0.0]": [0.5, [0, 1], 3, True, 0],
    "fractions.Fraction(7, 2), fractions.Fraction(10**30), decimal.Decimal('0.25')": [3.5, 10**30, 0.25],
    "range(2), c.deque('ab'), c.UserList([1]), c.namedtuple('Row', 'a')(1)": [[0, 1], ["a", "b"], [1], [1]],
    "{np.int64(3): 1}, c.Counter('a'), types.MappingProxyType({np.str_('b'): ()})": [{"3": 1}, {"a": 1}, {"b": []}],
    "enum.IntEnum('E', {'A': 3}).A, {enum.Enum('E', {'A': 'x'}, type=str).A: 1}": [3, {"x": 1}],
}
"""Answers, and the equal values that the supervisor gets."""


@pytest.fixture(scope="module", params=["bare", pytest.param("sandbox", marks=pytest.mark.sandbox)])
def session(request: pytest.FixtureRequest) -> Session:
    return SAFE if request.param == "sandbox" else BARE


@pytest.fixture(scope="module")
def shared(session: Session) -> Iterator[ForkServer]:
    with session.pool.fresh(tensors=False) as one:
        yield one


@pytest.fixture
def tree(shared: ForkServer) -> ForkServer:
    """Return a process tree that tests share. Each test forks workers of its own from it."""
    shared.start_task()
    return shared


@pytest.fixture
def one(tree: ForkServer) -> Iterator[WorkerClient]:
    with worker(tree, LIMITS) as client:
        yield client


def ignore(_name: str, _arguments: list[Any]) -> None:
    return None


def value(
    one: WorkerClient,
    source: str,
    argument: object = 1,
    simulated: Callable[[str, list[Any]], Any] | None = None,
    most: int = 100,
) -> object:
    """Load a source, and call its `f` with one plain value or with a simulated function."""
    one.load(source)
    given = {"simulated": "g"} if simulated else {"value": argument}
    return one.values("f", [given], simulated or ignore, most).get("answer")


def test_a_function_is_called_with_plain_values_and_its_answer_must_be_plain(one: WorkerClient) -> None:
    assert value(one, "def f(x): return [x, {'y': (1.5, None, True)}]", "ä") == ["ä", {"y": [1.5, None, True]}]
    for equal, expected in EQUAL.items():
        assert value(one, f"{IMPORTED}\ndef f(x): return {equal}") == expected, equal
    for odd in ("object()", "[{1, 2}]", "{'a': {}.keys()}", "b'a'", "(n for n in [1])", "1j", "type.mro(int)"):
        assert value(one, f"def f(x): return {odd}") is None, odd
    one.load("def f(x): return [[(1, x.append(x) or x), {2}]]")
    assert one.values("f", [{"value": [0]}], ignore, 0) == {"type": "list", "inside": "list in itself"}
    one.load("import dataclasses\nRow = dataclasses.make_dataclass('Row', 'a')\ndef f(x): return [Row(1)]")
    assert one.values("f", [{"value": 0}], ignore, 0) == {"type": "list", "inside": "Row"}
    assert value(one, "def f(x): return 'odd' in globals() or 'np' in globals()") is False, "each module is a fresh one"


def test_what_a_file_raises_is_told_with_its_line(one: WorkerClient) -> None:
    for source, kind, line, not_written in (
        ("import os\nraise KeyError('k')", "KeyError", 2, False),
        ("def f(x) return x", "SyntaxError", 1, False),
        ("import sys\nsys.exit(0)", "SystemExit", 2, False),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1, False),
        ("def f(x):\n  return f(x)\nf(1)", "RecursionError", 2, False),
        ("from os import nothing", "ImportError", 1, False),
        ("def f(x):\n  raise NotImplementedError('later')\nf(1)", "NotImplementedError", 2, True),
        ("import codecs\ncodecs.Codec().encode('')", "NotImplementedError", 2, False),
    ):
        with pytest.raises(Raised) as caught:
            one.load(source)
        assert (caught.value.type, caught.value.line) == (kind, line)
        assert ("not_written" in caught.value.flags) is not_written


def test_an_exception_cannot_flood_the_report(one: WorkerClient) -> None:
    with pytest.raises(Raised) as caught:
        one.load("raise type('T' * 500, (Exception,), {})('\\ud800' + 'm' * 1_000_000)")
    assert len(caught.value.type) == faults.WORD_CHARACTERS
    assert len(caught.value.message) == faults.MESSAGE_CHARACTERS
    caught.value.message.encode()


def test_endless_printing_holds_nobody_up_and_its_end_is_kept(one: WorkerClient) -> None:
    source = "def f(x):\n  for _ in range(200): print('a' * 9999)\n  print('the end')\n  return 1"
    assert value(one, source) == 1
    one.close()
    assert len(one.output_tail) <= TAIL_BYTES
    assert "the end" in one.output_tail


def test_one_who_calls_without_listening_does_not_hold_the_supervisor_up(tree: ForkServer) -> None:
    source = CHANNEL + '\ndef f(x):\n  while True: say(b\'M{"name": "g", "arguments": []}\')'
    with worker(tree, replace(HASTY, wall_factor=1.0)) as one:
        one.load(source)
        with pytest.raises(WorkerFault):
            one.values("f", [{"value": 1}], lambda _name, _arguments: "x" * 1000, 1_000_000)


def test_a_text_too_long_for_a_message_is_cut_or_refused_in_words(one: WorkerClient) -> None:
    def refuse(_name: str, _arguments: list[Any]) -> object:
        raise ValueError("not like this: " + "é" * 1_000_000)

    said = value(one, "def f(g):\n  try: g(1)\n  except ValueError as error: return str(error)", simulated=refuse)
    assert isinstance(said, str)
    assert said.startswith("not like this: ééé")
    with pytest.raises(WorkerFault, match="too long") as caught:
        one.load("# " + "ä" * 900_000)
    assert caught.value.status is Status.REFUSED


def test_workers_of_one_tree_know_nothing_of_each_other(tree: ForkServer) -> None:
    for _ in range(2):
        with worker(tree, LIMITS) as one:
            source = "import sys\nseen = hasattr(sys, 'been_here')\nsys.been_here = 1\ndef f(x): return seen"
            assert value(one, source) is False


ANSWERS = """
import torch

def right(x): return -x
def strided(x): return torch.stack([-x, x])[0]
def expanded(x): return (-x[:, :1]).expand(x.shape) if (x == x[:, :1]).all() else -x
def with_grad(x): return (-x).requires_grad_()
def nothing(x): return None
def a_subclass(x): return (-x).as_subclass(type("Own", (torch.Tensor,), {}))
def transposed(x): return -x.T
def flat(x): return (-x).reshape(-1)
def double(x): return -x.double()
def huge(x): return torch.zeros(1).expand(1 << 40)
def meta(x): return torch.empty(x.shape, device="meta")
def itself(x): return x
def in_place(x): return x.neg_()
def undone(x): x.neg_(); y = x.clone(); x.neg_(); return y
def not_numbers(x): return x * float("nan")
def uninitialised(x): return torch.empty_like(x)
def no_kernel(x): return torch.zeros(3, dtype=torch.bool).logcumsumexp(0)
def bomb(x): return torch.zeros(1 << 40)
"""
X = np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)


@pytest.fixture(scope="module")
def tensor_worker() -> Iterator[WorkerClient]:
    with opened(Limits(load_s=60, call_s=20), BARE, tensors=True) as one:
        one.load(ANSWERS)
        yield one


def answer(one: WorkerClient, function: str, *inputs: Any) -> Answer:
    packed: Packed = pack(inputs or (X,))
    one.outputs.poison(4096)
    claim = one.call(function, packed)
    return Answer.read(claim, one.outputs, inputs_unchanged=packed.unchanged(one.inputs))


def verdict(one: WorkerClient, function: str) -> str:
    inputs: Inputs = (X,)
    expected = Expected(-X.astype(np.float64), np.zeros(X.shape), np.dtype(np.float32))
    mismatch = judge(expected, answer(one, function, *inputs))
    return mismatch.got if mismatch else "right"


def test_a_right_tensor_is_right_however_it_lies_in_memory(tensor_worker: WorkerClient) -> None:
    functions = ("right", "strided", "expanded", "with_grad", "undone")
    assert {name: verdict(tensor_worker, name) for name in functions} == dict.fromkeys(functions, "right")


ODD = {
    "nothing": "a NoneType",
    "a_subclass": "a Own",
    "flat": "shape (4,)",
    "double": "dtype float64",
    "huge": "far larger than asked for",
    "meta": "a meta tensor",
    "in_place": "an input that was changed",
    "transposed": "-1",
    "itself": "1",
    "not_numbers": "nan",
    "uninitialised": "[",
}


def test_an_odd_answer_is_wrong_and_named(tensor_worker: WorkerClient) -> None:
    said = {name: verdict(tensor_worker, name) for name in ODD}
    assert {name: got for name, got in said.items() if got == "right" or ODD[name] not in got} == {}


def test_what_a_function_with_tensors_raises_is_told_by_its_kind(tensor_worker: WorkerClient) -> None:
    with pytest.raises(Raised) as caught:
        answer(tensor_worker, "no_kernel")
    assert "not_written" not in caught.value.flags, "torch raises NotImplementedError for a kernel that it lacks"
    with pytest.raises(Raised) as caught:
        answer(tensor_worker, "bomb")
    assert "memory" in caught.value.flags
    with pytest.raises(Raised, match="MissingError: missing"):
        answer(tensor_worker, "missing")
