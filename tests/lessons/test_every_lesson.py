"""What every lesson must satisfy. Lessons are found by the catalogue: a new one is held to all of this as it is."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from certain import CERTAIN
from nbclient import NotebookClient
from sessions import ROOT, taken

from lessons.engine import notebook
from lessons.engine.catalogue import entries
from lessons.engine.command import run_command
from lessons.engine.lesson import Lesson

NAMES = [entry.name for entry in entries()]
COMPILES = ("08", "12", "14", "15")
"""Lessons that count instructions or compile, which may take 30 s even when short."""

RUNS = [pytest.param(name, marks=pytest.mark.slow if name.startswith(COMPILES) else ()) for name in NAMES]
MARKS = r"^ *[✓✗?–] "
SETTLED = r"^ *[✓✗?] "
NEED_NOTHING = ("01", "03", "07")
"""Lessons without a claim that a machine may lack something for: none of them is ever skipped."""

LONGEST_LINE = 80 - len("   1 │ ")
MOST_LINES = 28
FIGURE = re.compile(r"\d\s?(%|×(?!\s?\d)|[nµm]?s\b|[KMG]iB\b|times\b|percent\b)")
SOURCE = re.compile(r"recipe|quick start|lecture|guide|manual|documentation|warns|torch's|[Pp]ublished|\.py\b|†")
"""Words that say where a figure typed into prose is from."""


def lesson_of(name: str) -> Lesson:
    whole = importlib.import_module(f"lessons.{name}").lesson
    assert isinstance(whole, Lesson)
    return whole


def marks_of(name: str) -> str:
    """What stands before the lines of its claims."""
    return SETTLED if name.startswith(NEED_NOTHING) else MARKS


@pytest.fixture(params=NAMES)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lesson_of(request.param)


@pytest.mark.parametrize("name", RUNS)
def test_a_short_run_is_without_warnings_and_settles_every_claim(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = taken(tmp_path_factory, name)
    assert (run.code, run.err, run.left) == (0, "", [])
    assert run.record["complete"]
    assert list(run.verdicts) == [id_ for step in lesson_of(name).steps for id_ in step.claims]
    assert len(run.record["claims"]) == len(run.verdicts)
    assert len(re.findall(marks_of(name), run.out, re.MULTILINE)) == len(run.verdicts)
    assert {id_: run.verdicts[id_] for id_ in CERTAIN.get(name, ()) if run.verdicts[id_] != "held"} == {}
    assert max(map(len, run.out.splitlines())) <= 100
    for picture in run.plots.iterdir():
        assert picture.suffix == ".svg"
        assert "<desc>" in picture.read_text(encoding="utf-8"), picture.name


def test_a_lesson_makes_at_least_five_claims_and_asks_before_it_tells(lesson: Lesson) -> None:
    assert len([id_ for step in lesson.steps for id_ in step.claims]) >= 5
    asking = [step.name for step in lesson.steps if step.predict is not None]
    assert len(asking) > len(lesson.steps) / 2
    assert len(lesson.key_points) == 3
    assert lesson.references
    assert all(step.introduction for step in lesson.steps)


def test_teaching_code_fits_a_terminal_of_80_columns_and_one_look(lesson: Lesson) -> None:
    for step in lesson.steps:
        for code in (step.code, step.given_code):
            lines = code.splitlines()
            assert max(map(len, lines), default=0) <= LONGEST_LINE, step.name
        assert len(step.code.splitlines()) <= MOST_LINES, step.name


def test_a_figure_typed_into_an_explanation_says_where_it_is_from(lesson: Lesson) -> None:
    tree = ast.parse(Path(lesson.file).read_text(encoding="utf-8"))
    spoken = [text for text in explanations(tree) if FIGURE.search(text) and not SOURCE.search(text)]
    assert spoken == []


def explanations(tree: ast.Module) -> Iterator[str]:
    """What is said of a result, a call or a table of sentences at a time; what is measured is left out of it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any("observe" in ast.unparse(each) for each in node.decorator_list):
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
            yield from (typed(each) for each in calls if ast.unparse(each.func) in {"page.say", "page.reveal"})
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            yield from (typed(each) for each in node.value.values)


def typed(node: ast.AST) -> str:
    """The texts within an expression, one behind the other."""
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return " ".join(texts)


def test_the_steps_are_listed_with_their_claims(lesson: Lesson, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(lesson, ["--list-steps"]) == 0
    out = capsys.readouterr().out
    for step in lesson.steps:
        assert step.title in out
        assert all(id_ in out for id_ in step.claims)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_its_notebook_runs_from_top_to_bottom_in_a_fresh_kernel(name: str, tmp_path: Path) -> None:
    lesson, path = lesson_of(name), tmp_path / f"{name}.ipynb"
    notebook.write(lesson, path, fast=True)
    whole = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    here = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, timeout=300, startup_timeout=300, kernel_name="python3", resources=here).execute()
    for step in lesson.steps:
        (cell,) = (cell for cell in whole.cells if cell.id == f"{step.name}-run")
        printed = re.sub(r"\x1b\[[0-9;]*m", "", "".join(output.get("text", "") for output in cell.outputs))
        assert len(re.findall(marks_of(name), printed, re.MULTILINE)) == len(step.claims), step.name
