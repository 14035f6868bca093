"""Whole runs of `pytest --duel` in processes of their own, with real measurements."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest
from git_projects import commit, git, write

from harness.processes.launcher import KIT

pytestmark = pytest.mark.program("git")

SLEEPY = "import time\ndef test_waits(benchmark):\n    benchmark(time.sleep, 0.001)\n"
COMMAND = (
    sys.executable,
    "-P",
    "-m",
    "pytest",
    "-p",
    "harness.gate.plugin",
    "-p",
    "no:cacheprovider",
    "--duel",
    "main",
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "temporary").mkdir()
    own = {"PYTHONPATH": str(KIT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(tmp_path / "temporary")}
    return {**os.environ, **own}


def started_workers(process: psutil.Process) -> list[psutil.Process]:
    """Wait until the run has started its workers, and return them."""
    while process.status() != psutil.STATUS_ZOMBIE:
        workers = []
        for child in process.children(recursive=True):
            with suppress(psutil.Error):  # it has just ended
                workers += [child] if "harness.gate.worker" in child.cmdline() else []
        if workers:
            return workers
        time.sleep(0.02)
    pytest.fail("The run ended before it started workers.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_and_no_tree_is_left_after_a_signal(
    tmp_path: Path, environment: dict[str, str], number: int
) -> None:
    project = tmp_path / "project"
    commit(project, {"test_waits.py": SLEEPY})
    with subprocess.Popen(COMMAND, cwd=project, env=environment, stdout=subprocess.DEVNULL) as started:
        workers = started_workers(psutil.Process(started.pid))
        started.send_signal(number)
    psutil.wait_procs(workers, timeout=30)
    assert not [each for each in workers if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    if number != signal.SIGKILL:  # the trees that this one leaves are removed by the next run
        assert list((tmp_path / "temporary").glob("fairclock-duel-*")) == []
        assert len(git(project, "worktree", "list").splitlines()) == 1


@pytest.mark.long
def test_a_slower_tree_is_red_and_what_base_lacks_is_new(tmp_path: Path, environment: dict[str, str]) -> None:
    names = ("work", "work_from_table", "new")
    tests = "import module\n" + "".join(f"def test_{name}(benchmark): benchmark(module.{name})\n" for name in names)
    source = "import functools, time\ndef work():\n    for _ in range({}): pass\n"
    source += "@functools.cache\ndef table(): time.sleep(0.5)\ndef work_from_table(): return table(), work()\n"
    commit(tmp_path / "project", {"module.py": source.format(300), "test_work.py": tests})
    write(tmp_path / "project", {"module.py": source.format(900) + "def new(): pass\n"})
    command = [*COMMAND, "--duel-limit", "2.5"]
    done = subprocess.run(
        command, cwd=tmp_path / "project", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "2 slower, 1 new." in done.stdout
