"""Requirements of all lessons. The catalogue finds the lessons, so these tests include new ones."""

import ast
import builtins
import dis
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import nbformat
import pytest
from certain import CERTAIN
from nbclient import NotebookClient
from sessions import ROOT, taken

from grader.catalogue import load
from lessons.engine import notebook
from lessons.engine.catalogue import entries
from lessons.engine.command import run_command
from lessons.engine.lesson import Lesson

NAMES = [entry.name for entry in entries()]
COMPILES = ("08", "12", "14", "15", "19")
"""Lessons that count instructions or compile; their short run may take 30 s, or minutes on a busy machine."""

RUNS = [pytest.param(name, marks=pytest.mark.long if name.startswith(COMPILES) else ()) for name in NAMES]
NOTEBOOKS = [pytest.param(name, marks=() if name.startswith(("02", "13")) else pytest.mark.long) for name in NAMES]
MARKS = r"^ *[✓✗?–] "
SETTLED = r"^ *[✓✗?] "
NEED_NOTHING = ("01", "03", "07")
"""Lessons whose claims are never skipped, because they need no special part of the machine."""

LONGEST_LINE = 80 - len("   1 │ ")
MOST_LINES = 28
FIGURE = re.compile(r"\d\s?(%|×(?!\s?\d)|[nµm]?s\b|[KMG]iB\b|times\b|percent\b)")
SOURCE = re.compile(r"recipe|quick start|lecture|guide|manual|documentation|warns|torch's|[Pp]ublished|\.py\b|†")
"""Words that name the source of a figure in a text."""


def lesson_of(name: str) -> Lesson:
    whole = importlib.import_module(f"lessons.{name}").lesson
    assert isinstance(whole, Lesson)
    return whole


def marks_of(name: str) -> str:
    """Return the pattern at the beginning of a line with a claim."""
    return SETTLED if name.startswith(NEED_NOTHING) else MARKS


@pytest.fixture(params=NAMES)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lesson_of(request.param)


@pytest.mark.parametrize("name", RUNS)
def test_a_short_run_has_no_warnings_and_settles_each_claim(
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


def test_a_lesson_has_at_least_five_claims_and_a_question_in_most_steps(lesson: Lesson) -> None:
    assert len([id_ for step in lesson.steps for id_ in step.claims]) >= 5
    asking = [step.name for step in lesson.steps if step.predict is not None]
    assert len(asking) > len(lesson.steps) / 2
    assert len(lesson.key_points) == 3
    assert lesson.references
    assert all(step.introduction for step in lesson.steps)


def test_each_exercise_names_the_step_that_explains_it(lesson: Lesson) -> None:
    """An exercise names the title of a step and not its number, which changes if a step is added before it."""
    names = {f"lesson {lesson.name[:2]}, “{step.title}”" for step in lesson.steps}
    assert {task.name: task.read for task in load().tasks(lesson.name) if task.read not in names} == {}


def test_teaching_code_fits_a_terminal_of_80_columns_and_is_short(lesson: Lesson) -> None:
    for step in lesson.steps:
        for code in (step.code, step.given_code):
            lines = code.splitlines()
            assert max(map(len, lines), default=0) <= LONGEST_LINE, step.name
        assert len(step.code.splitlines()) <= MOST_LINES, step.name


def test_the_shown_code_can_be_pasted(lesson: Lesson) -> None:
    """The code compiles, contains nothing for tools, and uses only names that were shown before."""
    known = set(dir(builtins))
    for step in lesson.steps:
        shown = step.shown_code
        compiled = compile(shown, step.name, "exec")
        known |= set(compiled.co_names)
        assert global_names(compiled) <= known, step.name
        assert not re.search(r"# *(noqa|type:|fmt:)", shown), step.name
        assert not [each for each in ast.walk(ast.parse(shown)) if getattr(each, "returns", None)], step.name


def global_names(code: CodeType) -> set[str]:
    """Return the names that the functions and classes in `code` take from the module."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*map(global_names, inner))


def test_a_figure_that_an_explanation_does_not_measure_has_a_source(lesson: Lesson) -> None:
    tree = ast.parse(Path(lesson.file).read_text(encoding="utf-8"))
    spoken = [text for text in explanations(tree) if FIGURE.search(text) and not SOURCE.search(text)]
    assert spoken == []


def explanations(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of each call and of each table of texts in the explanations, without the measured values."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(each).endswith(".explain") for each in node.decorator_list
        ):
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
            yield from (typed(each) for each in calls if ast.unparse(each.func) in {"page.say", "page.reveal"})
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            yield from (typed(each) for each in node.value.values)


def typed(node: ast.AST) -> str:
    """Return all string constants in an expression, joined by spaces."""
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return " ".join(texts)


def test_the_steps_are_listed_with_their_claims(lesson: Lesson, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(lesson, ["--list-steps"]) == 0
    out = capsys.readouterr().out
    for step in lesson.steps:
        assert step.title in out
        assert all(id_ in out for id_ in step.claims)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
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
