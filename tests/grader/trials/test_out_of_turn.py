"""CPU time that a submission uses during the baseline's turns: how much is a fault, and the resulting verdict."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from small_tasks import BY_ROWS, negation
from trees import BARE

from grader.errors import WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.limits import Limits
from grader.records import Status
from grader.seeds import generator
from grader.session import Session
from grader.task import Task, TensorExam
from grader.trials import speed
from grader.trials.speed import TimedPair
from grader.trials.tensor_supply import TensorSupply
from grader.trials.turns import SLACK_PART, SLACK_S, OutOfTurn
from grader.trials.worker_client import worker
from harness.machine.clocks import FakeClock, ProcessGoneError
from harness.processes import process_env

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one process read another's CPU clock")
BURNS = """
import hashlib, threading
WASTE = bytes(1 << 18)
def burn():
    while True: hashlib.blake2b(WASTE).digest()
burning = []
"""
STARTS = """
    if not burning:
        burning.append(threading.Thread(target=burn, daemon=True))
        burning[0].start()
"""


def watching() -> tuple[OutOfTurn, FakeClock, FakeClock]:
    cpu, now = FakeClock(50.0), FakeClock(7.0)
    return OutOfTurn(cpu, now), cpu, now


def pass_time(others: OutOfTurn, cpu: FakeClock, now: FakeClock, seconds: float, *, used_s: float) -> None:
    """Simulate another side's turn of `seconds`, in which the submission uses `used_s` seconds of CPU time."""
    with others.watched():
        now.advance(seconds)
        cpu.advance(used_s)


def test_computing_on_ends_the_submission_with_what_it_used() -> None:
    others, cpu, now = watching()
    said = "kept computing while it was not its turn: for 100 ms of 200 ms"
    with pytest.raises(WorkerFault, match=said) as caught:
        pass_time(others, cpu, now, 0.2, used_s=0.1)
    assert caught.value.status is Status.CRASHED


def test_a_tree_whose_clock_cannot_be_read_any_more_is_to_blame() -> None:
    def gone() -> float:
        raise ProcessGoneError

    with pytest.raises(WorkerFault), OutOfTurn(gone).watched():
        pass


@pytest.fixture(scope="module")
def session() -> Session:
    return BARE


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return negation(tmp_path, limits=Limits(load_s=60, call_s=20))


def doing(before: str, in_each_call: str) -> str:
    """Return the baseline's source with additional code."""
    return before + BY_ROWS.replace("    out = ", f"{in_each_call}\n    out = ", 1)


@contextmanager
def pair_of(task: Task, source: str, session: Session) -> Iterator[TimedPair]:
    """Start a baseline and this source on one core."""
    assert isinstance(task.exam, TensorExam)
    core = max(os.sched_getaffinity(0))
    supply = TensorSupply(task.exam, generator("a secret"))
    with (
        session.pool.trusted(tensors=True) as trusted,
        session.pool.fresh(tensors=True) as tree,
        process_env.pinned(core),
        ExitStack() as stack,
    ):
        contestants = speed.Contestants(task, source, trusted, tree, core)
        yield contestants.open_pair(0, supply, stack, OutOfTurn(tree.computed_s))


def play(pair: TimedPair) -> None:
    for number in range(60):
        pair.play(baseline_first=number % 2 == 0)


def play_the_baseline_alone(pair: TimedPair) -> None:
    """Play only turns of the baseline, as a control does."""
    for _ in range(60):
        with pair.out_of_turn.watched():
            pair.baseline.turn(pair.supply.draw(pair.baseline.inputs()))


@LINUX
@pytest.mark.parametrize("stretch", [play, play_the_baseline_alone])
def test_a_thread_that_never_rests_ends_its_submission(
    stretch: Callable[[TimedPair], None], session: Session, task: Task
) -> None:
    """The submission is blamed, not the machine, although controls would fail beside its thread.

    On a busy machine, the thread sometimes gets no share of the core, and disturbs nothing. Then the test tries again.
    """
    found = ""
    for _ in range(4):
        with pair_of(task, doing(BURNS, STARTS), session) as pair:
            try:
                stretch(pair)
            except WorkerFault as fault:
                found = str(fault)
                break
    assert "kept computing while it was not its turn" in found


@LINUX
def test_what_an_earlier_worker_burns_counts_as_well(session: Session, task: Task) -> None:
    with session.pool.fresh(tensors=False) as tree, worker(tree, task.limits) as earlier:
        others = OutOfTurn(tree.computed_s)
        earlier.load(f"{BURNS}\nthreading.Thread(target=burn, daemon=True).start()")
        with worker(tree, task.limits), pytest.raises(WorkerFault):
            compute_meanwhile(tree, others)


def compute_meanwhile(tree: ForkServer, others: OutOfTurn) -> None:
    """Simulate another side's turn until the tree has computed for a while."""
    with others.watched():
        until_s = tree.computed_s() + 0.05
        while tree.computed_s() < until_s:
            pass


@LINUX
def test_honest_work_uses_next_to_nothing_out_of_turn(session: Session, task: Task) -> None:
    """This includes code whose threads wait after the answer, as OpenMP's threads do with the worker's environment."""
    pool = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
    openmp = "import torch\ntorch.set_num_threads(2)\nlarge = torch.ones(300, 300)\n"
    in_each_call = "    large @ large\n    list(pool.map(abs, range(4)))"
    with pair_of(task, doing(pool + openmp, in_each_call), session) as pair:
        play(pair)
        others = pair.out_of_turn
    assert others.watched_s > 0
    assert others.used_s < (SLACK_S + SLACK_PART * others.watched_s) / 2
