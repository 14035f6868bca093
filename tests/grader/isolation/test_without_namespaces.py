"""In a container that allows no namespaces, other layers keep every promise of the sandbox.

The container is that of `container.py`, with Docker's capabilities and system calls. `held_in_a_container` runs in it,
and one exploit for each layer that is another one there (`layers.py`) is graded in it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, command, golden, nothing_left_running, outcomes, verdicts
from container import container
from layers import HONEST_IN_A_CONTAINER, IN_A_CONTAINER
from promises import EXPLOITS, HONEST

from grader.isolation import sandbox, tree_users

HERE = Path(__file__).parents[1]
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.program("setpriv"),
    pytest.mark.skipif(not tree_users.is_root(), reason="only root can give each tree a user of its own"),
]


def run(program: Sequence[str], timeout_s: float = 580) -> subprocess.CompletedProcess[str]:
    """Run a command in the container."""
    return subprocess.run(
        container("docker", program),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, HERE)))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )


def test_what_is_promised_holds_in_a_container(tmp_path: Path) -> None:
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'inner'}"]
    done = run([*pytest_here, str(HERE / "held_in_a_container.py")])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout


@pytest.mark.long
@pytest.mark.program("cc")
@pytest.mark.valgrind
def test_exploits_and_honest_work_earn_the_same_in_a_container() -> None:
    files = [EXPLOITS / f"{name}.py" for name in IN_A_CONTAINER]
    files += [HONEST / f"{name}.py" for name in HONEST_IN_A_CONTAINER]
    done = run([sys.executable, str(HERE / "graded_here.py"), *map(str, files)])
    found = dict(json.loads(line) for line in done.stdout.splitlines())
    assert list(found) == [file.name for file in files], done.stderr[-2000:]
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_a_class_is_graded_in_a_container_by_the_real_command(tmp_path: Path) -> None:
    lesson, student = "04_autorange", "ada"
    shutil.copytree(CLASS / student, tmp_path / "class" / student)
    out = tmp_path / "grades"
    with nothing_left_running():
        done = run([*command("run", tmp_path / "class", "--out", out, "--lessons", lesson), "--jobs", "1"])
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {task: one for task, one in golden()[student].items() if task.startswith(lesson)}
    assert verdicts(outcomes(out)) == {student: expected}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert sandbox.LAYERS[0] in page, "the page names each missing layer"
    assert "NO SANDBOX" not in done.stdout + done.stderr
