"""How the server starts and ends: what it refuses, and that Ctrl-C and SIGTERM end all of its processes."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
import real_server
import served_course
from commanding import said
from student_kit import in_kit, student_kit

from grader import paths
from grader.isolation import sandbox
from grader.server import serving

COURSE = 'title = "Served"\ntimezone = "UTC"\n[lessons.04_autorange]\ndue = 2126-01-01\n'


def test_without_a_sandbox_nothing_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: "this machine has none")
    served_course.serve(tmp_path)
    ended = said(capsys, "serve", tmp_path)
    assert (ended.code, ended.err) == (2, "Grading needs a sandbox, and this machine has none.\n")


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from grader.commands.apps import run_grader as run; "
    command = [sys.executable, "-c", f"{code}sys.exit(run(['serve', '.']))"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "`serve` needs the package uvicorn. Install it with `pip install -e '.[server]'`.\n"


@pytest.mark.long
def test_a_student_kit_lists_no_commands_for_servers(tmp_path: Path) -> None:
    code = (
        "import grader.paths as p; p.SOLUTIONS = p.KIT / 'none'; from grader.commands.apps import run_grader as run; "
    )
    command = [sys.executable, "-c", f"{code}run(['--help'])"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert " login " in listed
    assert " serve " not in listed
    assert in_kit(student_kit(tmp_path), "login", "--help").code == 0


def test_the_program_does_not_run_its_command_again_in_processes_of_multiprocessing() -> None:
    program = paths.GRADER / "student_kit" / "fairclock"
    code = "import runpy, sys; sys.argv[:] = ['fairclock', 'serve', '.']; runpy.run_path(%r, {}, '__mp_main__')"
    ended = subprocess.run([sys.executable, "-c", code % str(program)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.long
@pytest.mark.sandbox
def test_one_server_at_a_time_serves_a_course_and_uses_a_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    served_course.serve(other)
    with real_server.served(tmp_path / "course", COURSE, ["Ada"]) as server:
        second = said(capsys, "serve", server.folder, "--port", real_server.free_port())
        assert second.code == 2
        assert f"Another run or server (process {server.process.pid if server.process else 0})" in second.err
        monkeypatch.setattr(serving, "physical_cores", lambda: 1)
        taken = said(capsys, "serve", other, "--port", server.port)
        assert (taken.code, "Another program uses this port. Try --port" in taken.err) == (2, True)
        assert taken.err.startswith("This machine has one core, so the server disturbs the measurements.")
        assert said(capsys, "serve", other, "--host", "no.such.host.invalid", "--port", 8899).code == 2


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_and_all_of_its_processes(tmp_path: Path, number: signal.Signals) -> None:
    with real_server.served(tmp_path / "course", COURSE, ["Ada"]) as server:
        assert server.process
        assert server.program("Ada").hand_in("04_autorange.py", b"def blocked_autorange(): pass\n")[0] == 201
        whole = [psutil.Process(server.process.pid), *psutil.Process(server.process.pid).children(recursive=True)]
        assert len(whole) > 1
        server.process.send_signal(number)
        assert server.process.wait(60) == 0
        _, alive = psutil.wait_procs(whole, timeout=60)
        assert alive == []
