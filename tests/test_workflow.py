"""GitHub's workflow is valid, has the whole matrix, and runs the commands that README gives."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / ".github" / "workflows" / "matrix.yml").read_text(encoding="utf-8")
JOBS: dict[str, Any] = yaml.safe_load(TEXT)["jobs"]


def scripts(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_its_first_line_says_that_it_is_untried() -> None:
    assert TEXT.startswith("# Untried: ")


@pytest.mark.parametrize("job", ["linux", "macos"])
def test_each_system_meets_every_python_with_the_oldest_and_the_newest_torch(job: str) -> None:
    assert JOBS[job]["strategy"]["matrix"] == {"python": ["3.11", "3.13", "3.14"], "torch": ["2.9.*", "newest"]}


def test_the_oldest_torch_is_the_one_that_the_kit_admits() -> None:
    assert '"torch>=2.9"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("job", ["linux", "macos"])
@pytest.mark.program("bash")
def test_every_script_is_right_for_bash(job: str) -> None:
    for script in scripts(job):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("pattern", "ends"), [("venv .venv && .*lessons", "lessons.04_autorange"), ("pytest -n", "pytest -n 3")]
)
@pytest.mark.program("grep")
def test_the_commands_that_it_takes_from_readme_are_there(pattern: str, ends: str) -> None:
    assert any(f"grep -m 1 '{pattern}' README.md" in script for script in scripts("linux"))
    found = subprocess.run(
        ["grep", "-m", "1", pattern, "README.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.rstrip().endswith(ends)
