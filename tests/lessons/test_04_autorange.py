import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lessons.engine.lesson import Lesson

ROOT = Path(__file__).parent.parent.parent
LONGEST_LINE = 80 - len("   1 │ ")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.04_autorange").lesson
    assert isinstance(whole, Lesson)
    return whole


def run(*arguments: str | Path, fail: int = 0) -> subprocess.CompletedProcess[str]:
    command: Sequence[str | Path] = (sys.executable, "-W", "error", "-m", "lessons.04_autorange", *arguments)
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert done.returncode == fail, done.stderr
    return done


def burners() -> list[str]:
    """Return the command lines of all processes that look like the lesson's neighbours."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_text(errors="replace")
        except OSError:
            continue  # it ended while we looked
        if "time() % 0.1" in line:
            found.append(line)
    return found


def test_a_fast_run_settles_every_claim_and_leaves_nothing_running(lesson: Lesson, tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    done = run("--no-input", "--fast", "--json", file, "--plots", tmp_path / "plots")
    record = json.loads(file.read_text(encoding="utf-8"))
    assert done.stderr == ""
    assert record["complete"]
    assert [claim["id"] for claim in record["claims"]] == [
        id_ for step in lesson.steps for id_ in step.claims
    ]
    assert len(record["claims"]) >= 5
    assert all(claim["measured"] is not None for claim in record["claims"])
    assert record["environment"]["python"]
    assert {path.suffix for path in (tmp_path / "plots").iterdir()} == {".svg"}
    if Path("/proc").exists():
        assert burners() == []


def test_what_must_hold_on_any_machine_held(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    run("--fast", "--json", file)
    verdicts = {claim["id"]: claim["verdict"] for claim in json.loads(file.read_text())["claims"]}
    certain = {"run-is-long", "search-is-dear", "one-run-no-spread", "slow-gives-one", "nobody-warns"}
    assert {verdicts[id_] for id_ in certain} == {"held"}


def test_the_steps_are_listed_with_their_claims(lesson: Lesson) -> None:
    out = run("--list-steps").stdout
    for step in lesson.steps:
        assert step.title in out
        assert all(id_ in out for id_ in step.claims)


def test_all_teaching_code_fits_a_terminal_of_80_columns(lesson: Lesson) -> None:
    for step in lesson.steps:
        for code in (step.code, step.given_code):
            lines = code.splitlines()
            assert max(map(len, lines), default=0) <= LONGEST_LINE, step.name
            assert len(lines) <= 20, step.name


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fats"], "No such option: --fats"),
        (["--json", "/nowhere/claims.json"], "/nowhere/claims.json cannot be written"),
        (["--json", "."], ". cannot be written"),
        (["--notebook", "/nowhere/lesson.ipynb"], "/nowhere/lesson.ipynb cannot be written"),
        (["--plots", os.devnull], "cannot be written"),
        (["surplus"], "surplus"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments, fail=2)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    module = importlib.import_module("lessons.04_autorange")
    with pytest.raises(ZeroDivisionError), module.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    if Path("/proc").exists():
        assert burners() == []
