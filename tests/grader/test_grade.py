"""Grading one submission for one task always returns a verdict and never raises an exception."""

from pathlib import Path

import pytest
from small_tasks import AT_ONCE, BISECT, COUNT_UP, hand_in, negation, record_mistakes, search
from trees import BARE, CHANNEL, SAFE, bare

from grader import grade
from grader.grade import grade_task
from grader.isolation import forkserver, sandbox
from grader.isolation.pool import Pool
from grader.limits import Limits
from grader.records import Control, Status, Submission
from grader.session import Session
from grader.task import Task
from grader.trials import control, speed
from harness.errors import MachineError
from harness.paired.decide import MeasurementError, Rules

HASTY = Limits(load_s=10, call_s=1, memory_bytes=300 << 20, wall_factor=3.0)
QUICK = Rules(min_pairs=1, max_pairs=1, slice_s=0.025, cap_s=1.0)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return search(tmp_path, limits=HASTY)


@pytest.mark.parametrize("session", [BARE, pytest.param(SAFE, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"])
def test_a_right_answer_gets_points_and_a_cheap_one_gets_all(task: Task, session: Session) -> None:
    verdict = grade_task(task, hand_in(BISECT), session)
    assert (verdict.status, verdict.points, verdict.max_points) == (Status.PASSED, 10, 10)
    verdict = grade_task(task, hand_in(COUNT_UP), session)
    assert (verdict.status, verdict.points) == (Status.PASSED, 4)
    assert "Next tier: 2×, 6 points." in verdict.attempt.rationale


@pytest.mark.parametrize(
    ("code", "statuses"),
    [
        ("return 1", {Status.WRONG}),
        ("raise NotImplementedError", {Status.RAISED}),
        ("os._exit(0)", {Status.CRASHED}),
        ("os.kill(os.getpid(), 9)", {Status.OUT_OF_MEMORY}),
        ("import ctypes; ctypes.string_at(0)", {Status.CRASHED}),
        ("os.closerange(3, 64); import time; time.sleep(60)", {Status.CRASHED}),
        ("import sys; sys.exit(0)", {Status.RAISED}),
        ("while True: pass", {Status.TIMED_OUT}),
        ("x = []\n  while True: x.append(bytearray(1 << 20))", {Status.OUT_OF_MEMORY}),
        ("say(b'D{\"answer\": 60}'); say(b'D{\"answer\": 60}'); return 60", {Status.WRONG}),
        ("say(b'D'); say(b'D')", {Status.WRONG}),
        ("os.write(DESCRIPTOR, os.urandom(4096)); return 60", {Status.PROTOCOL_VIOLATION, Status.TIMED_OUT}),
        ("os.write(DESCRIPTOR, b'\\1'); import time; time.sleep(60)", {Status.TIMED_OUT}),
        ("os.fork(); return 60", {Status.RAISED, Status.WRONG, Status.CRASHED}),
        ("raise type('\\ud800', (Exception,), {})('\\udfff' * 9)", {Status.RAISED, Status.CRASHED}),
        ('say(b\'R{"type": [], "message": {}, "line": true, "memory": 1}\')', {Status.RAISED}),
    ],
)
def test_no_end_earns_points_or_breaks_the_grading(task: Task, code: str, statuses: set[Status]) -> None:
    verdict = grade_task(task, hand_in(f"{CHANNEL}\ndef find(probe):\n  {code}"), BARE)
    assert verdict.status in statuses, verdict.attempt
    assert verdict.points == 0
    assert verdict.attempt.rationale
    (verdict.attempt.rationale + verdict.attempt.help).encode()


def test_a_file_without_a_working_function_or_that_is_no_python_is_told_so(task: Task) -> None:
    for source in ("", "import nothing_of_that_name", "find = 3", "raise SystemExit"):
        verdict = grade_task(task, hand_in(source), BARE)
        assert (verdict.status, verdict.points) == (Status.RAISED, 0)
    verdict = grade_task(task, hand_in("def find(probe):\n    raise NotImplementedError"), BARE)
    assert "still raises NotImplementedError (line 2 of the file)" in verdict.attempt.rationale
    verdict = grade_task(task, hand_in("def find(probe"), BARE)
    assert (verdict.status, verdict.points) == (Status.REFUSED, 0)
    refused = Submission("ada", "00_small", "ada/00_small.py", "0", None, "It is not UTF-8 text.")
    verdict = grade_task(task, refused, BARE)
    assert (verdict.status, verdict.points) == (Status.REFUSED, 0)
    assert verdict.attempt.rationale == "It is not UTF-8 text."


@pytest.mark.parametrize("baseline", ["def negate(x): return 1", "raise SystemExit"])
def test_a_faulty_baseline_is_ours(tmp_path: Path, baseline: str) -> None:
    verdict = grade_task(negation(tmp_path, baseline=baseline), hand_in(AT_ONCE), BARE)
    assert verdict.status is Status.GRADER_ERROR
    assert "not the submission's fault" in verdict.attempt.rationale


@pytest.mark.parametrize("fault", [MachineError("The machine is full."), MeasurementError("A turn took 0 s.")])
def test_no_submission_is_blamed_for_the_machine(task: Task, monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def broken(*_arguments: object, **_named: object) -> None:
        raise fault

    monkeypatch.setattr(sandbox, "start", broken)
    with bare() as session:
        verdict = grade_task(task, hand_in(BISECT), session)
    assert verdict.status is Status.GRADER_ERROR
    assert str(fault) in verdict.attempt.rationale


def test_the_smallest_failing_case_is_shown_also_if_the_process_ends_in_it(tmp_path: Path) -> None:
    task = negation(tmp_path)
    verdict = grade_task(task, hand_in("def negate(x): return -x.nan_to_num()"), BARE)
    assert (verdict.status, verdict.points, verdict.attempt.cases_passed) == (Status.WRONG, 0, 3)
    case = "The smallest: x of shape (2, 3), float32, x has a NaN"
    assert verdict.attempt.rationale.startswith(f"Fails 1 of 4 cases. {case}")
    verdict = grade_task(task, hand_in("import os\ndef negate(x): return -x if len(x) else os._exit(0)"), BARE)
    assert verdict.status is Status.CRASHED
    assert "x of shape (0, 3)" in verdict.attempt.help


def test_a_known_mistake_reads_its_explanation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = negation(tmp_path)
    record_mistakes(
        task,
        monkeypatch,
        '"""You take sizes."""\ndef negate(x): return x.clone() if len(x) < 4 else x.abs()',
        '"""You return x."""\ndef negate(x): return x.clone()',
        '"""You change x."""\ndef negate(x): return x.neg_()',
    )
    for path in task.known.glob("wrong_*"):
        path.unlink()  # the record suffices
    for source, explanation in (
        ("x * 1", "You return x."),
        ("-x.neg_().neg_()", ""),
        ("x.neg_().clone()", "You change x."),
        ("x * 1 if len(x) != 4 else x.abs() * 1", "You take sizes."),
        ("x * 2", ""),
    ):
        verdict = grade_task(task, hand_in(f"def negate(x): return {source}"), BARE)
        assert (verdict.points == 0, verdict.attempt.help) == (bool(explanation) or "2" in source, explanation), source


def test_without_another_process_clock_wall_time_grades(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(forkserver, "cpu_clock", lambda _pid: None)
    monkeypatch.setattr(
        control, "judge", lambda *_: Control(1.0, 1.05, 0.05, holds=True)
    )  # with the wall clock, other running tests would make the duel void
    monkeypatch.setattr(speed, "RULES", QUICK)
    task = negation(tmp_path)
    with Pool(sandboxed=False) as pool:
        report = grade.grade(hand_in(AT_ONCE), "a secret", pool, (task,))
    assert report.verdicts[0].status in {Status.PASSED, Status.UNDECIDED}
    assert "estimates" in report.notes[0]
