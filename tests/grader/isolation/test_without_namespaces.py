"""In a container that allows no namespaces, other layers keep every promise of the sandbox.

The container is that of `container.py`, with Docker's capabilities and system calls. `held_in_a_container` runs in it,
and one exploit for each layer that is another one there (`layers.py`) is graded in it.
"""

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


def run_tests(folder: Path, *tests: str) -> str:
    """Run tests in the container, and return the output of pytest. All of them must pass."""
    options = ["-q", "-p", "no:cacheprovider", "-m", "long or not long", f"--basetemp={folder / 'inner'}"]
    done = run([sys.executable, "-m", "pytest", *options, *tests])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout
    return done.stdout


def test_what_is_promised_holds_in_a_container(tmp_path: Path) -> None:
    run_tests(tmp_path, str(HERE / "held_in_a_container.py"))


@pytest.mark.long
@pytest.mark.program("cc")
def test_exploits_and_honest_work_earn_the_same_in_a_container(tmp_path: Path) -> None:
    file = HERE / "test_exploits.py"
    tests = [f"{file}::test_no_exploit_earns_more_than_its_honest_work[{name}]" for name in IN_A_CONTAINER]
    tests += [f"{file}::test_honest_work_earns_what_it_deserves[{name}]" for name in HONEST_IN_A_CONTAINER]
    tests += [f"{HERE / 'test_restyled.py'}::test_a_random_sample_of_styles_keeps_its_points"]
    assert f"{len(tests)} passed" in run_tests(tmp_path, *tests)


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
