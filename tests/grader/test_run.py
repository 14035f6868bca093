import io
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, TASKS, grade, hand_in
from rich.console import Console

from grader import journal, reports
from grader.executors import Lanes
from grader.files import WriteError
from grader.records import Report, Status, Submission
from grader.run import Grade, Summary, grade_class, pace
from harness.errors import UsageError

HERE = Path(__file__).parent
PATIENCE_S = 60


def run(folder: Path, out: Path, grade_one: Grade = grade) -> tuple[Summary, str]:
    said = io.StringIO()
    console = Console(file=said, width=200)
    summary = grade_class(folder, out, grade=grade_one, tasks=TASKS, jobs=2, console=console, kit=KIT, about="2 lanes")
    return summary, said.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for student, text in (("ada", "right"), ("bob", "wrong"), ("eve", "cheat"), ("may", "edge")):
        hand_in(tmp_path / "hw1", student, text)
    hand_in(tmp_path / "hw1", "ada", "right", "02_timer")
    (tmp_path / "hw1" / "zoe" / "01_dot.py").mkdir(parents=True)
    return tmp_path / "hw1"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "grades"


def test_a_class_is_graded_and_every_report_written(folder: Path, out: Path) -> None:
    summary, said = run(folder, out)
    assert (summary.exit_code, summary.graded, summary.interrupted) == (0, 6, False)
    assert said.splitlines()[:2] == [f"hw1: 5 students, 6 hand-ins, 7 tasks · kit {KIT}", "2 lanes"]
    assert summary.lines()[0].endswith(
        "Points: median 0 of 20. Look at: 1 refused, 1 that broke the rules, 1 undecided."
    )
    assert summary.lines()[1].split() == [
        str(out / name) for name in ("report.html", "gradebook.csv", "<student>/results.json", "grades.sqlite")
    ]
    assert (out / reports.PAGE).is_file()
    assert len((out / reports.GRADEBOOK).read_text().splitlines()) == 7
    assert json.loads((out / "ada" / reports.RESULTS).read_text())["score"] == 12.0


def everything(out: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in out.rglob("*") if path.is_file() and not path.name.startswith((".lock", "grades."))]
    return {str(path.relative_to(out)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_a_second_call_does_nothing_and_says_so(folder: Path, out: Path) -> None:
    run(folder, out)
    before = everything(out)

    def never(_submission: Submission, _seed: str) -> Report:
        raise AssertionError("graded twice")

    summary, _ = run(folder, out, never)
    assert (summary.exit_code, summary.graded) == (0, 0)
    assert summary.lines()[0].startswith("Nothing to do: all 6 hand-ins were graded before.")
    assert everything(out) == before


def test_only_what_changed_is_graded_again(folder: Path, out: Path) -> None:
    run(folder, out)
    hand_in(folder, "bob", "right")
    summary, said = run(folder, out)
    assert summary.graded == 1
    assert "5 are graded already; going on with 1." in said
    assert "bob,,,bob,,6," in (out / reports.GRADEBOOK).read_text()


def test_a_fault_of_ours_costs_nobody_and_is_tried_again(folder: Path, out: Path) -> None:
    hand_in(folder, "bob", "boom")
    summary, said = run(folder, out)
    assert summary.exit_code == 3
    assert summary.faults == 1
    assert "1 fault" in said
    assert summary.lines()[1] == "1 hand-in met a fault of ours: run the same command again to retry."
    assert "bob,,,bob,,," in (out / reports.GRADEBOOK).read_text()
    result = (out / "bob" / reports.RESULTS).read_text()
    assert "ZeroDivisionError" in result
    assert "hidden case" not in result

    summary, _ = run(folder, out, lambda given, _seed: grade(Submission(*_fields(given), "right")))
    assert (summary.exit_code, summary.graded) == (0, 1)
    assert "bob,,,bob,,6," in (out / reports.GRADEBOOK).read_text()


def _fields(given: Submission) -> tuple[str, str, str, str]:
    return given.student, given.lesson, given.path, given.sha256


def test_every_grading_gets_the_same_secret_seed_and_no_report_shows_it(folder: Path, out: Path) -> None:
    seeds = set()

    def remembering(submission: Submission, seed: str) -> Report:
        seeds.add(seed)
        return grade(submission)

    run(folder, out, remembering)
    (seed,) = seeds
    assert seed == (out / journal.SEED).read_text().strip()
    shown = [path for path in out.rglob("*") if path.is_file() and path.name != journal.SEED]
    assert not any(seed.encode() in path.read_bytes() for path in shown)


def test_reports_are_rebuilt_from_the_journal_alone(folder: Path, out: Path) -> None:
    run(folder, out)
    before = {name: content for name, (_, content) in everything(out).items()}
    for path in (out / reports.PAGE, out / reports.GRADEBOOK, out / "ada" / reports.RESULTS):
        path.unlink()
    with journal.read(out) as book:
        reports.write(book.roll(), out)
    assert {name: content for name, (_, content) in everything(out).items()} == before


def test_a_lesson_named_twice_is_graded_once(folder: Path, out: Path) -> None:
    console = Console(file=io.StringIO())
    summary = grade_class(folder, out, grade=grade, tasks=TASKS * 2, jobs=1, console=console, kit=KIT)
    assert summary.roll.possible("01_dot") == 10.0


def test_a_bad_class_leaves_out_unmade(tmp_path: Path, out: Path) -> None:
    with pytest.raises(UsageError):
        run(tmp_path / "gone", out)
    assert not out.exists()


def test_a_strange_name_does_not_reach_the_terminal_as_it_is(tmp_path: Path, out: Path) -> None:
    hand_in(tmp_path / "[bold]\x1b[2Jhw", "ada")
    assert run(tmp_path / "[bold]\x1b[2Jhw", out)[1].startswith(r"[bold]\x1b[2Jhw: 1 student, 1 hand-in, 1 task ")


def test_progress_is_told_in_few_lines_where_nobody_watches(tmp_path: Path, out: Path) -> None:
    for number in range(40):
        hand_in(tmp_path / "hw", f"s{number:02}")
    lines = [line for line in run(tmp_path / "hw", out)[1].splitlines() if "/40" in line]
    assert [line.split("/")[0] for line in lines] == ["4", "8", "12", "16", "20", "24", "28", "32", "36", "40"]


@pytest.mark.parametrize(
    ("done", "elapsed_s", "line"),
    [
        (402, 395.4, "402/624  61 a minute  3 min 39 s left  2 at a tier's edge  0 faults"),
        (624, 600.0, "624/624  62 a minute  2 at a tier's edge  0 faults"),
        (1, 0.0, "1/624  0 s left  2 at a tier's edge  0 faults"),
    ],
)
def test_the_pace_is_told_from_what_is_done(done: int, elapsed_s: float, line: str) -> None:
    assert pace(done, 624, elapsed_s, edges=2, faults=0) == line


# -------------------------------------------------------------------------------------------------- lanes


def test_lanes_run_as_many_at_a_time_as_there_are() -> None:
    together = threading.Barrier(3)
    with Lanes(3) as lanes:
        assert sorted(lanes.map(lambda n: (together.wait(PATIENCE_S), n)[1], range(3))) == [0, 1, 2]


def test_a_call_that_raises_gives_its_exception_and_the_lane_goes_on() -> None:
    with Lanes(1) as lanes:
        broken = lanes.submit(int, "x")
        assert lanes.submit(int, "7").result(PATIENCE_S) == 7
    assert isinstance(broken.exception(), ValueError)


def test_closed_lanes_take_no_work_and_no_lanes_are_refused() -> None:
    lanes = Lanes(1)
    lanes.shutdown()
    with pytest.raises(RuntimeError):
        lanes.submit(int)
    with pytest.raises(ValueError, match="at least one"):
        Lanes(0)


def test_what_is_queued_can_be_cancelled() -> None:
    hold = threading.Event()
    lanes = Lanes(1)
    lanes.submit(hold.wait, PATIENCE_S)
    queued = lanes.submit(int)
    lanes.shutdown(wait=False, cancel_futures=True)
    hold.set()
    assert queued.cancelled()


# ------------------------------------------------------------------------------ killed, interrupted, starved


class Process:
    """A real class run in a process of its own."""

    def __init__(self, folder: Path, out: Path, seconds: float, *, limit_bytes: int | None = None) -> None:
        self.log = folder.parent / "log"
        self.process = subprocess.Popen(
            [sys.executable, HERE / "class_run.py", folder, out, str(seconds), self.log],
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: _limit(limit_bytes)) if limit_bytes else None,  # noqa: PLW1509
        )

    def wait_until_graded(self, out: Path, number: int) -> None:
        ends = time.monotonic() + PATIENCE_S
        while count(out) < number:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < ends
            time.sleep(0.01)

    def end(self) -> tuple[int, str, str]:
        stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, stdout, stderr


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def count(out: Path) -> int:
    if not (out / journal.FILE).exists():
        return 0
    plain = sqlite3.connect(out / journal.FILE)
    try:
        return int(plain.execute("SELECT count(*) FROM gradings").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are not made yet
        return 0
    finally:
        plain.close()


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    for number in range(30):
        hand_in(tmp_path / "hw1", f"s{number:02}", ("right", "wrong", "edge")[number % 3])
    return tmp_path / "hw1"


def test_a_run_killed_in_the_middle_is_finished_by_the_next_with_each_graded_once(
    crowd: Path, out: Path, tmp_path: Path
) -> None:
    killed = Process(crowd, out, 0.05)
    killed.wait_until_graded(out, 8)
    killed.process.kill()
    killed.end()
    kept = count(out)
    assert 8 <= kept < 30

    code, stdout, stderr = Process(crowd, out, 0.0).end()
    assert (code, stderr.count("are graded already")) == (0, 1)
    assert stdout.startswith("Done")
    assert f"{kept} are graded already; going on with {30 - kept}." in stderr
    with journal.read(out) as book:
        students = [report.submission.student for report in book.reports()]
    assert students == [f"s{number:02}" for number in range(30)]
    assert count(out) == 30

    run(crowd, tmp_path / "at once")
    assert (out / reports.GRADEBOOK).read_bytes() == (tmp_path / "at once" / reports.GRADEBOOK).read_bytes()
    assert Process(crowd, out, 0.0).end()[1].startswith("Nothing to do")


def test_ctrl_c_stops_at_once_keeps_what_was_graded_and_says_how_to_go_on(crowd: Path, out: Path) -> None:
    stopped = Process(crowd, out, 0.05)
    stopped.wait_until_graded(out, 4)
    stopped.process.send_signal(signal.SIGINT)
    code, stdout, stderr = stopped.end()
    assert code == 130
    assert "Traceback" not in stderr
    assert "Run the same command again to go on." in stdout
    assert "not graded yet" in (out / reports.PAGE).read_text()
    assert 4 <= count(out) < 30
    assert Process(crowd, out, 0.0).end()[0] == 0
    assert count(out) == 30


def test_a_second_run_into_the_same_out_says_who_is_there(crowd: Path, out: Path) -> None:
    first = Process(crowd, out, 0.2)
    first.wait_until_graded(out, 1)
    code, _, stderr = Process(crowd, out, 0.0).end()
    first.process.kill()
    first.end()
    assert code == 2
    assert f"Another run (process {first.process.pid}) is grading into" in stderr


def starved(out: Path, process: Process) -> None:
    code, _, stderr = process.end()
    assert code == 2
    assert "Traceback" not in stderr
    assert "run the same command again" in stderr.splitlines()[-1]
    kept = count(out)
    assert kept < 200
    with journal.read(out) as book:
        assert len(book.reports()) == kept


@pytest.fixture
def large_class(tmp_path: Path) -> Path:
    for number in range(200):
        hand_in(tmp_path / "hw1", f"s{number:03}", f"right {number}" + "#" * 4000)
    return tmp_path / "hw1"


def test_a_file_that_may_not_grow_stops_the_run_and_the_next_goes_on(large_class: Path, out: Path) -> None:
    starved(out, Process(large_class, out, 0.0, limit_bytes=300_000))
    assert Process(large_class, out, 0.0).end()[0] == 0
    assert count(out) == 200


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_stops_the_run_in_one_sentence_and_the_next_goes_on(large_class: Path, small_disk: Path) -> None:
    out = small_disk / "grades"
    starved(out, Process(large_class, out, 0.0))
    subprocess.run(["mount", "-o", "remount,size=50m", small_disk], check=True)
    assert Process(large_class, out, 0.0).end()[0] == 0
    assert count(out) == 200


def test_a_disk_full_when_the_reports_are_written_keeps_every_grade(
    folder: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = small_disk / "grades"
    filler = small_disk / "filler"
    write = reports.write

    def fill_first(*given: object) -> int:
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                return write(*given)  # type: ignore[arg-type]
        return 0

    monkeypatch.setattr(reports, "write", fill_first)
    with pytest.raises(WriteError, match="the disk is full; make room and run the same command again"):
        run(folder, out)
    monkeypatch.undo()
    filler.unlink()
    summary, _ = run(folder, out)
    assert (summary.graded, summary.exit_code) == (0, 0)
    assert (out / reports.PAGE).is_file()


def test_lessons_can_be_graded_one_after_the_other_into_one_out(folder: Path, out: Path) -> None:
    for lesson in LESSONS:
        tasks = [task for task in TASKS if task.lesson == lesson]
        console = Console(file=io.StringIO())
        summary = grade_class(folder, out, grade=grade, tasks=tasks, jobs=1, console=console, kit=KIT)
    assert summary.roll.lessons == LESSONS
    assert len(summary.roll.reports) == 6
    assert all(verdict.status is not Status.GRADER_ERROR for each in summary.roll.reports for verdict in each.verdicts)
