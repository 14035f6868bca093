import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.state import FOLDER_VARIABLE
from lessons.engine.command import run_command
from lessons.engine.lesson import Lesson

ROOT = Path(__file__).parent.parent.parent
LONGEST_LINE = 80 - len("   1 │ ")


@dataclass(frozen=True)
class Taken:
    """One run of the lesson as a command, with what it printed and wrote."""

    code: int
    out: str
    err: str
    record: dict[str, Any]
    plots: Path


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.04_autorange").lesson
    assert isinstance(whole, Lesson)
    return whole


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """Take the lesson for real, once: a process of its own, with any warning an error."""
    folder = tmp_path_factory.mktemp("taken")
    file, plots = folder / "claims.json", folder / "plots"
    command = [sys.executable, "-W", "error", "-m", "lessons.04_autorange", "--no-input", "--fast"]
    done = subprocess.run(
        [*command, "--json", file, "--plots", plots],
        cwd=ROOT,
        env={**os.environ, FOLDER_VARIABLE: str(folder)},
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    return Taken(done.returncode, done.stdout, done.stderr, json.loads(file.read_text(encoding="utf-8")), plots)


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


def test_a_fast_run_settles_every_claim(lesson: Lesson, taken: Taken) -> None:
    assert (taken.code, taken.err) == (0, "")
    assert taken.record["complete"]
    claims = taken.record["claims"]
    assert [claim["id"] for claim in claims] == [id_ for step in lesson.steps for id_ in step.claims]
    assert len(claims) >= 5
    assert all(claim["measured"] is not None for claim in claims)
    assert len(re.findall(r"^ *[✓✗?]  ", taken.out, re.MULTILINE)) == len(claims)


def test_what_holds_on_any_machine_held(taken: Taken) -> None:
    verdicts = {claim["id"]: claim["verdict"] for claim in taken.record["claims"]}
    certain = {"run-is-long", "search-is-dear", "one-run-no-spread", "slow-gives-one", "nobody-warns"}
    assert {verdicts[id_] for id_ in certain} == {"held"}


def test_every_picture_has_words_for_those_who_cannot_see_it(taken: Taken) -> None:
    pictures = list(taken.plots.iterdir())
    assert {path.suffix for path in pictures} == {".svg"}
    assert all("<desc>" in path.read_text(encoding="utf-8") for path in pictures)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see other processes")
def test_no_neighbour_outlives_the_lesson(taken: Taken) -> None:
    assert taken.code == 0
    assert burners() == []


def test_the_steps_are_listed_with_their_claims(lesson: Lesson, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(lesson, ["--list-steps"]) == 0
    out = capsys.readouterr().out
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
def test_a_wrong_command_line_is_one_sentence(
    lesson: Lesson, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(lesson, arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert sentence in err


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see other processes")
def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    module = importlib.import_module("lessons.04_autorange")
    with pytest.raises(ZeroDivisionError), module.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    assert burners() == []


@pytest.mark.parametrize(
    ("further", "option"),
    [([0.1, 0.3], "a"), ([-0.1, -0.3], "b"), ([0.01, -0.01], "c"), ([0.1, -0.1], None)],
)
def test_the_rounds_decide_together_which_figure_moved(further: list[float], option: str | None) -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert module.which_moved(further) == option
    assert option in module.WHY_MOVED
