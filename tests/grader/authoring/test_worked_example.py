"""The exercise in `grader/tasks/README.md`: added to a kit, its files pass `lint`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KIT = Path(__file__).parents[3]
README = (KIT / "grader" / "tasks" / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`(\S+\.(?:py|toml))`\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^python (-m grader\S* ?.*20_row_norms|-m grader stubs)$", re.MULTILINE)


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """Return a copy of the kit with the new exercise."""
    for folder in ("harness", "lessons", "grader", "solutions"):
        shutil.copytree(KIT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in FILE.findall(README):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        with (tmp_path / path).open("a", encoding="utf-8") as file:  # the list of lessons exists already
            file.write(text)
    return tmp_path


def test_the_example_has_all_its_files() -> None:
    assert len(FILE.findall(README)) == 9


@pytest.mark.long
@pytest.mark.sandbox
def test_the_example_on_the_page_is_fair(kit: Path) -> None:
    commands = COMMAND.findall(README)
    assert len(commands) == 2
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command.split()], cwd=kit, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"20_row_norms\.row_norms", done.stdout)) >= 7
