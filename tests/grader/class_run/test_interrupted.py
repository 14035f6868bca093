import errno
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from classroom import hand_in, run
from commanding import command, nothing_left_running
from trees import until

from grader import files, reports
from grader.class_run import journal
from grader.files import WriteError

HERE = Path(__file__).parents[1]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "grades"


class Process:
    """A process that grades a real class."""

    def __init__(self, folder: Path, out: Path, seconds: float, *, limit_bytes: int | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / "class_run.py", folder, out, str(seconds)],
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: _limit(limit_bytes)) if limit_bytes else None,  # noqa: PLW1509
        )

    def wait_until_graded(self, out: Path, number: int) -> None:
        while count(out) < number:
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.01)

    def end(self) -> tuple[int, str, str]:
        stdout, stderr = self.process.communicate()
        return self.process.returncode, stdout, stderr


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def count(out: Path) -> int:
    if not (out / journal.FILE).exists():
        return 0
    plain = sqlite3.connect(out / journal.FILE)
    try:
        return int(plain.execute("SELECT count(*) FROM gradings").fetchone()[0])
    except sqlite3.OperationalError:  # the journal's tables do not exist yet
        return 0
    finally:
        plain.close()


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    for number in range(16):
        hand_in(tmp_path / "hw1", f"s{number:02}", f"{('right', 'wrong', 'edge')[number % 3]} # {number}")
    return tmp_path / "hw1"


@pytest.mark.anywhere
def test_the_next_run_finishes_a_killed_one_without_regrading(crowd: Path, out: Path, tmp_path: Path) -> None:
    killed = Process(crowd, out, 0.05)
    killed.wait_until_graded(out, 4)
    killed.process.kill()
    killed.end()
    kept = count(out)
    assert 4 <= kept < 16

    code, stdout, stderr = Process(crowd, out, 0.0).end()
    assert (code, stderr.count("Already graded")) == (0, 1)
    assert stdout.startswith("Done")
    assert f"Already graded: {kept} hand-ins. This run grades {16 - kept} hand-ins." in stderr
    with journal.read(out) as book:
        students = [report.submission.student for report in book.reports()]
    assert students == [f"s{number:02}" for number in range(16)]
    assert count(out) == 16

    run(crowd, tmp_path / "at once")
    assert (out / reports.GRADEBOOK).read_bytes() == (tmp_path / "at once" / reports.GRADEBOOK).read_bytes()
    assert Process(crowd, out, 0.0).end()[1].startswith("There is nothing to grade")


def test_ctrl_c_stops_at_once_keeps_what_was_graded_and_says_how_to_go_on(crowd: Path, out: Path) -> None:
    stopped = Process(crowd, out, 0.05)
    stopped.wait_until_graded(out, 4)
    stopped.process.send_signal(signal.SIGINT)
    code, stdout, stderr = stopped.end()
    assert code == 130
    assert "Traceback" not in stderr
    assert "Run the same command again to grade the rest." in stdout
    assert "not graded yet" in (out / reports.PAGE).read_text()
    assert 4 <= count(out) < 16
    assert Process(crowd, out, 0.0).end()[0] == 0
    assert count(out) == 16


def test_a_file_that_may_not_grow_stops_the_run_and_the_next_goes_on(tmp_path: Path, out: Path) -> None:
    large_class = tmp_path / "hw1"
    for number in range(40):
        hand_in(large_class, f"s{number:03}", f"right {number}" + "#" * 4000)
    code, _, stderr = Process(large_class, out, 0.0, limit_bytes=150_000).end()
    assert (code, "Traceback" in stderr) == (2, False)
    assert "run the same command again" in stderr.splitlines()[-1]
    kept = count(out)
    assert kept < 40
    with journal.read(out) as book:
        assert len(book.reports()) == kept
    assert Process(large_class, out, 0.0).end()[0] == 0
    assert count(out) == 40


def computes(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(sum(process.cpu_times()[:2]) > 0.5)
    return False


@pytest.mark.slow
@pytest.mark.parametrize(("number", "sandbox"), [(signal.SIGKILL, []), (signal.SIGTERM, ["--no-sandbox"])])
def test_a_killed_run_leaves_no_process_and_no_temporary_file(
    tmp_path: Path, out: Path, number: signal.Signals, sandbox: list[str]
) -> None:
    for lesson in ("01_correct_first", "04_autorange"):
        hand_in(tmp_path / "hw1", "ada", "print('loads', flush=True)\nwhile True: pass", lesson)
    (tmp_path / "tmp").mkdir()
    words = command("run", tmp_path / "hw1", "--out", out, "--jobs", "2", *sandbox)
    with nothing_left_running():
        killed = subprocess.Popen(words, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, stdout=subprocess.DEVNULL)
        while sum(map(computes, psutil.Process(killed.pid).children(recursive=True))) < 2:
            time.sleep(0.05)
        killed.send_signal(number)
        assert killed.wait() == -number
    assert until(lambda: not [*(tmp_path / "tmp").iterdir()])


def test_a_full_disk_keeps_every_grade(tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(tmp_path / "hw1", "ada")
    run(tmp_path / "hw1", out)
    hand_in(tmp_path / "hw1", "ada", "right # changed")

    def full(*_given: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "write_whole", full)
    with pytest.raises(WriteError, match="the disk is full; make room and run the same command again"):
        run(tmp_path / "hw1", out)
    monkeypatch.undo()
    summary, _ = run(tmp_path / "hw1", out)
    assert (summary.graded, summary.exit_code) == (0, 0)
    assert (out / reports.PAGE).is_file()
