"""The exercise in `grader/tasks/README.md`: its few files pass `lint`, until one of the known answers is wrong."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KIT = Path(__file__).parents[3]
README = (KIT / "grader" / "tasks" / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`(\S+\.(?:py|toml))`\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^python (-m grader (?:stubs|lint 90_row_norms.*))$", re.MULTILINE)
MOST_FILES = 15


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """Return a copy of the kit."""
    for folder in ("harness", "lessons", "grader", "solutions"):
        shutil.copytree(KIT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def contents(kit: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in kit.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def grader(kit: Path, command: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, *command.split()]
    return subprocess.run(arguments, cwd=kit, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
@pytest.mark.sandbox
def test_the_example_on_the_page_is_fair_and_a_wrong_known_answer_in_it_is_found(kit: Path) -> None:
    before = contents(kit)
    for path, text in FILE.findall(README):
        (kit / path).parent.mkdir(parents=True, exist_ok=True)
        with (kit / path).open("a", encoding="utf-8") as file:  # the list of lessons exists already
            file.write(text)
    (kit / "grader/tasks/lesson_90_row_norms/__init__.py").touch()
    stubs, lint = COMMAND.findall(README)
    for command in (stubs, lint):
        done = grader(kit, command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"✓ 90_row_norms\.row_norms", done.stdout)) == 7
    changed = {path for path, content in contents(kit).items() if before.get(path) != content}
    assert len(changed) <= MOST_FILES, changed
    assert '"ratio": null' not in (kit / "grader/tasks/ways.json").read_text(encoding="utf-8").splitlines()[-2]

    known = kit / "grader/tasks/lesson_90_row_norms/known/row_norms"
    shutil.copy(known / "wrong_largest.py", known / "tier2_at_once.py")
    done = grader(kit, lint)
    assert done.returncode == 1
    assert "SURPRISE  90_row_norms.row_norms, tier2_at_once: expected right, got wrong" in done.stdout
