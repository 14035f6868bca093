"""The CPU time of counted tasks: if it contradicts a count, the submission gets the tier of its CPU time."""

import ast
from collections.abc import Iterator

import pytest
from promises import EXPLOITS

from grader import catalogue, paths
from grader.errors import WorkerFault
from grader.isolation.pool import Pool
from grader.records import Speed, Status
from grader.session import Session
from grader.task import CountedExam, Task
from grader.trials import cpu_time

COUNTED = [task for task in catalogue.all_tasks() if isinstance(task.exam, CountedExam)]
PAIRS = next(task for task in COUNTED if task.name == "pairs")
SELF_TIMES = next(task for task in COUNTED if task.name == "self_times")
SEED = ("a secret", "ada")
FORGER = EXPLOITS / "57_writes_into_the_counter_of_a_dict.py"
FORGES = """
honest_function = {name}

def {name}(*given):
    found = honest_function(*given)
    for place in COUNTERS:
        MEMORY[place : place + 8] = id(SMALL[0]).to_bytes(8, "little")
    return found
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Pool() as pool:
        yield Session("a secret", pool)


def claimed(task: Task, ratio: float = 1e6) -> Speed:
    return Speed(ratio, ratio, ratio, rounds=1, tier=sum(ratio >= tier.ratio for tier in task.tiers))


def believed(task: Task, source: str, session: Session, speed: Speed, first: float = 0.0) -> tuple[Speed, str]:
    assert isinstance(task.exam, CountedExam)
    return cpu_time.believed(task, task.exam, source, session, SEED, speed, first)


def forged(task: Task, source: str) -> str:
    """Return a submission whose function writes a small number into the counter of opcodes after each call."""
    exploit = ast.parse(FORGER.read_text(encoding="utf-8"))
    forging = [node for node in exploit.body[1:] if getattr(node, "name", "") != PAIRS.name]
    known = ast.parse(source)
    wrapper = ast.parse(FORGES.format(name=task.name))
    return ast.unparse(ast.Module([*known.body, *forging, *wrapper.body], []))


@pytest.mark.sandbox
def test_a_baseline_earns_no_tier_whatever_its_count_is_changed_to(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_time, "MOST_ROUNDS", 4)  # the ratio of CPU times is 1, also after more rounds
    speed, why = believed(PAIRS, PAIRS.baseline, session, claimed(PAIRS))
    assert speed.tier == 0
    assert speed.ratio < PAIRS.tiers[0].ratio
    assert why.startswith("The baseline executes 1 000 000× as many opcodes as the submission, but it takes only ")


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.parametrize("classes", [0, 12])
def test_a_solution_is_believed_also_if_its_file_has_many_classes(session: Session, classes: int) -> None:
    source = paths.solution(PAIRS.lesson).read_text(encoding="utf-8")
    kept = [
        f"@dataclass(frozen=True, order=True)\nclass Kept{n}:\n    one: int\n    two: str\n" for n in range(classes)
    ]
    whole = "\n".join(["from dataclasses import dataclass", *kept, source])
    counted = claimed(PAIRS, PAIRS.tiers[-1].ratio)
    assert believed(PAIRS, whole, session, counted) == (counted, "")


@pytest.mark.long
@pytest.mark.sandbox
def test_answers_to_additional_cases_are_judged_too(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(PAIRS.exam, CountedExam)
    needed = PAIRS.tiers[-1].counting_gain
    source = paths.solution(PAIRS.lesson).read_text(encoding="utf-8")
    tired = f"""
answer, calls = {PAIRS.name}, []

def {PAIRS.name}(trace):
    calls.append(1)
    return answer(trace) if len(calls) <= 40 else []
"""
    monkeypatch.setattr(cpu_time, "gain_of", lambda *_: needed)
    with pytest.raises(WorkerFault, match="wrong when CPU time was measured"):
        cpu_time.gain(PAIRS, PAIRS.exam, source + tired, session, SEED, needed, counting=True)


def test_a_gain_is_a_ratio_of_times_per_case() -> None:
    assert cpu_time.gain_of(0.020, 0.110, 0.010) == pytest.approx(10.0)
    assert cpu_time.gain_of(0.060, 0.101, 0.010, times=10) == pytest.approx(20.0)


@pytest.mark.parametrize("needed", [1.0, 1.2, 5.9, 26.0, 98.0])
def test_a_submission_with_more_cases_takes_about_twice_the_baselines_time_at_most(needed: float) -> None:
    times, least_gain = cpu_time.times_as_many(needed), needed / cpu_time.NEAR
    assert 1 <= times <= max(1.0, 2.2 * least_gain)


def test_what_earned_no_tier_is_not_run_again(session: Session) -> None:
    counted = claimed(PAIRS, 1.01)
    assert believed(PAIRS, "no Python at all", session, counted) == (counted, "")


def test_the_lower_of_two_gains_decides(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, top = PAIRS.tiers
    shown = {True: first.counting_gain, False: top.cpu_gain}
    monkeypatch.setattr(cpu_time, "gain", lambda *_, counting: shown[counting])
    speed, why = believed(PAIRS, "", session, claimed(PAIRS))
    assert (speed.tier, speed.ratio) == (1, first.ratio)
    assert "as much CPU time while opcodes are counted. For a higher tier, it must take at least " in why
    shown = {True: top.counting_gain, False: first.cpu_gain}
    assert believed(PAIRS, "", session, claimed(PAIRS))[0].tier == 1
    shown = {True: second.counting_gain, False: top.cpu_gain}
    assert believed(PAIRS, "", session, claimed(PAIRS))[0].tier == 2


def test_a_clear_gain_in_the_counted_processes_is_not_measured_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def gain(*_: object, counting: bool) -> float:
        measured.append(counting)
        return 1e6

    monkeypatch.setattr(cpu_time, "gain", gain)
    needed = PAIRS.tiers[-1].counting_gain
    believed(PAIRS, "", session, claimed(PAIRS), cpu_time.FIRST_MARGIN * needed)
    assert measured == [False]
    believed(PAIRS, "", session, claimed(PAIRS), needed)
    assert measured == [False, True, False]


@pytest.mark.sandbox
def test_right_answers_are_asked_for_while_cpu_time_is_taken(session: Session) -> None:
    task = PAIRS
    lazy = f"def {task.name}(*_):\n    return []\n"
    with pytest.raises(WorkerFault, match="wrong when CPU time was measured") as told:
        believed(task, lazy, session, claimed(task))
    assert told.value.status is Status.WRONG
