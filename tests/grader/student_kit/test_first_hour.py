"""A new student's first hour: the commands of the kit's README, as typed, from the unpacked kit to the first points."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commanding import grader, outcomes

from grader import paths
from grader.student_kit import release

LESSON = release.EXAMPLE
README = release.README.read_text(encoding="utf-8")


def typed(beginning: str) -> str:
    """Return the first command of the README with this beginning, without its comment."""
    lines = (line.strip() for line in README.splitlines() if line.startswith("    "))
    return next(re.split(r"  +#", line)[0] for line in lines if line.startswith(beginning))


def run(kit: Path, *commands: str, code: int = 0) -> str:
    """Run commands in a new shell of a student, which has only the system's programs. Return what they print."""
    environment = {"HOME": str(kit.parent), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    line = " && ".join(commands)
    done = subprocess.run(["bash", "-c", line], cwd=kit, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.long
@pytest.mark.sandbox
def test_the_commands_of_the_readme_lead_to_the_first_points(tmp_path: Path) -> None:
    assert grader("release", tmp_path / "kit.zip", "--lessons", LESSON).code == 0
    with zipfile.ZipFile(tmp_path / "kit.zip") as archive:
        archive.extractall(tmp_path)
    kit = tmp_path / "fairclock"
    ask = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path / "index"), "typer"]
    if subprocess.run(ask, check=False).returncode:
        pytest.skip("there is no package index")
    # The command with pip: the smaller installation, with uv, needs the package index of PyTorch beside the usual one.
    said = run(kit, typed("python3 -m venv .venv && .venv/bin/python -m pip install -e") + " --no-input --fast")
    assert "Your turn" in said, "the set-up ends with the first lesson"
    active = typed("source ")
    assert "0 / 10" in run(kit, active, typed(f"fairclock check {LESSON}"), code=1)
    assert "Hint 1 of 3" in run(kit, active, typed(f"fairclock check {LESSON} --hint"), code=1)
    exercise = kit / "lessons" / "exercises" / f"{LESSON}.py"
    exercise.write_bytes(paths.solution(LESSON).read_bytes())
    assert "10 / 10" in run(kit, active, typed(f"fairclock check {LESSON}"))
    assert "10 / 10" in run(kit, active, "cd notebooks", typed("fairclock check   "))
    assert "You can take" in run(kit, active, typed("fairclock doctor"))
    assert "10 of 10 points" in run(kit, active, typed("fairclock submit  "))
    (tmp_path / "hw").mkdir()
    (kit / "submission.zip").rename(tmp_path / "hw" / "ada.zip")
    assert grader("run", tmp_path / "hw", "--out", tmp_path / "grades").code == 0
    assert [one.points for one in outcomes(tmp_path / "grades")["ada"].values()] == [10]
