import importlib
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from sessions import Play

from lessons.engine import notebook
from lessons.engine.lesson import Lesson

ROOT = Path(__file__).parent.parent.parent
LONGEST_LINE = 80 - len("   1 │ ")
Turns = list[tuple[float, float]]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.03_cuda_sync")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "lessons.03_cuda_sync", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_fast_run_settles_every_claim_and_refutes_none(lesson: Lesson, tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    done = run("--no-input", "--fast", "--json", file, "--plots", tmp_path / "plots")
    record = json.loads(file.read_text(encoding="utf-8"))
    declared = [id_ for step in lesson.steps for id_ in step.claims]
    assert done.stderr == ""
    assert record["complete"]
    assert [claim["id"] for claim in record["claims"]] == declared
    assert len(declared) >= 5
    verdicts = {claim["id"]: claim["verdict"] for claim in record["claims"]}
    assert "refuted" not in verdicts.values(), verdicts
    assert verdicts["plain-clock-is-fooled"] == "held"
    pictures = list((tmp_path / "plots").iterdir())
    assert pictures
    assert all("<desc>" in path.read_text(encoding="utf-8") for path in pictures)


@pytest.mark.skipif(torch.cuda.is_available(), reason="shows what a machine without a GPU is told")
def test_the_first_line_under_the_title_says_that_the_stream_is_simulated() -> None:
    printed = run("--no-input", "--fast").stdout.split("\n")
    title = next(number for number, line in enumerate(printed) if "Lesson 03" in line)
    assert printed[title + 1].strip().startswith("Simulated: torch finds no CUDA here")


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
            assert len(lines) <= 28, step.name


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def test_no_stream_outlives_its_step(lesson: Lesson) -> None:
    before = threading.active_count()
    for step in lesson.steps:
        step(fast=True)
    assert threading.active_count() == before


def explained(module: ModuleType, prepare: Play, step: str, result: object) -> tuple[str, set[str]]:
    """Explain a planted result; return what was printed and how the claims fared."""
    played = prepare(module.lesson)
    asked = getattr(module, step)
    page = played.session._page(asked)
    page.prediction = asked.predict
    asked.explanation(page, result)
    return " ".join(played.out.getvalue().split()), {str(claim.standing) for claim in page.claims}


@pytest.mark.parametrize(
    ("step", "result", "standing", "says"),
    [
        ("launch_and_wait", [(1e-4, 4e-2)] * 7, "held", "It is the price of a launch"),
        ("launch_and_wait", [(3e-2, 4e-2)] * 7, "refuted", "launches took a good part of the time"),
        ("own_clock", [(4.1e-2, 4e-2)] * 7, "held", "They agree"),
        ("own_clock", [(6e-2, 4e-2)] * 7, "refuted", "a launch that came late"),
        ("first_bmm", [5e-3] + [5e-5] * 9, "held", "One call that is not like the others"),
        ("first_bmm", [5e-5] * 10, "refuted", "Not so in this process"),
        ("cold_and_warm", [(1e-5, 9e-5)] * 9, "held", "where the numbers come from"),
        ("cold_and_warm", [(1e-5, 1e-5)] * 9, "refuted", "no clear difference"),
    ],
)
def test_what_came_out_is_what_is_explained(
    module: ModuleType, prepare: Play, step: str, result: list[object], standing: str, says: str
) -> None:
    printed, standings = explained(module, prepare, step, result)
    assert standings == {standing}
    assert says in printed


def test_turns_that_disagree_settle_nothing(module: ModuleType, prepare: Play) -> None:
    turns: Turns = [(4e-2, 4e-2), (9e-2, 4e-2), (4e-2, 4e-2)]
    assert explained(module, prepare, "own_clock", turns)[1] == {"inconclusive"}


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom_in_a_fresh_kernel(lesson: Lesson, tmp_path: Path) -> None:
    path = tmp_path / "03_cuda_sync.ipynb"
    notebook.write(lesson, path, fast=True)
    whole = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, timeout=300, kernel_name="python3", resources=resources).execute()
    for step in lesson.steps:
        (cell,) = (cell for cell in whole.cells if cell.id == f"{step.name}-run")
        printed = re.sub(r"\x1b\[[0-9;]*m", "", "".join(output.get("text", "") for output in cell.outputs))
        assert len(re.findall(r"^ *[✓✗?] ", printed, re.MULTILINE)) == len(step.claims), step.name
