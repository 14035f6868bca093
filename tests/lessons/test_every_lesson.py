"""Requirements of all lessons. The catalogue finds the lessons, so these tests include new ones."""

import ast
import builtins
import dis
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from sessions import ROOT

from grader.catalogue import load
from harness import extensions
from harness.compilers.inductor import torchscript_support, unsupported
from harness.memory.allocations import lacking_memray
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.engine import notebook
from lessons.engine.catalogue import LessonEntry, lesson_names, listed
from lessons.engine.lesson import Lesson, Step

NAMES = lesson_names()
QUICK_RUN = "09_cprofile"
"""The lesson that also runs in the quick tests. It starts processes and a server; `test_anywhere` runs lesson 04."""

QUICK_NOTEBOOK = "13_bytecode"
MARKS = r"^ *[✓✗?–] "
SETTLED = r"^ *[✓✗?] "
LACKING = {
    "a C compiler": extensions.lacking(),
    "memray": lacking_memray(),
    "torch.compile": unsupported(),
    "TorchScript": torchscript_support().reason,
}
"""The needs of lessons for which certain claims may be skipped, with the reason why this machine lacks them, or ""."""

LONGEST_LINE = 80 - len("   1 │ ")
PAGE = (ROOT / "lessons" / "README.md").read_text(encoding="utf-8")
WORKED_FILES = re.compile(r"^`lessons/(\d\d_\w+\.(?:py|md))`\n\n(`{3,4})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
WORKED_ENTRY = re.compile(r"^`lessons/lessons.toml`\n\n```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""The example of a lesson in `lessons/README.md`."""


def unless(name: str, quick: str) -> object:
    """Return a parameter for a lesson, marked as long unless the lesson is `quick`."""
    return pytest.param(name, marks=() if name == quick else pytest.mark.long)


def lesson_of(name: str) -> Lesson:
    whole = importlib.import_module(f"lessons.{name}").lesson
    assert isinstance(whole, Lesson)
    return whole


def steps() -> Iterator[tuple[Lesson, Step]]:
    """Yield each step of each lesson."""
    for lesson in map(lesson_of, NAMES):
        yield from ((lesson, step) for step in lesson.steps)


def marks_of(name: str) -> str:
    """Return the pattern at the beginning of a line with a claim."""
    return MARKS if listed()[name].needs else SETTLED


def short_run(folder: Path, *script: str | Path) -> tuple[str, Any]:
    """Run a lesson's script, and return its output and its record. Warnings are errors, and no process is left."""
    record, state = folder / "claims.json", folder / "state"
    options = ("--no-input", "--fast", "--all", "--json", record, "--plots", folder / "plots")
    done = subprocess.run(
        [sys.executable, "-W", "error", *script, *options],
        cwd=ROOT,
        env={**os.environ, FOLDER_VARIABLE: str(state), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    left = list(running_with(f"{FOLDER_VARIABLE}={state}".encode()))
    assert (done.returncode, done.stderr, left) == (0, "", [])
    return done.stdout, json.loads(record.read_text(encoding="utf-8"))


def running_with(setting: bytes) -> Iterator[str]:
    """Yield the command lines of processes with this environment variable; none on systems without /proc."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process ended, or belongs to another user
            if setting in (process / "environ").read_bytes().split(b"\0"):
                yield (process / "cmdline").read_text(errors="replace")


@pytest.mark.parametrize("name", [unless(name, QUICK_RUN) for name in NAMES])
def test_a_short_run_has_no_warnings_and_settles_each_claim(name: str, tmp_path: Path) -> None:
    out, record = short_run(tmp_path, "-m", f"lessons.{name}", "--all")
    assert record["complete"]
    verdicts = {claim["id"]: claim["verdict"] for claim in record["claims"]}
    assert list(verdicts) == [claim.id for step in lesson_of(name).steps for claim in step.document.claims]
    assert len(record["claims"]) == len(verdicts)
    assert len(re.findall(marks_of(name), out, re.MULTILINE)) == len(verdicts)
    allowed = {"held", "skipped"} if any(LACKING.get(each) for each in listed()[name].needs) else {"held"}
    assert {id_: verdicts[id_] for id_ in listed()[name].certain if verdicts[id_] not in allowed} == {}
    assert max(map(len, out.splitlines())) <= 100
    for picture in (tmp_path / "plots").iterdir():
        assert picture.suffix == ".svg"
        assert "<desc>" in picture.read_text(encoding="utf-8"), picture.name


def test_each_lesson_has_claims_questions_key_points_and_references() -> None:
    wrong = []
    for lesson in map(lesson_of, NAMES):
        asking = [step for step in lesson.steps if step.document.question]
        claims = [claim for step in lesson.steps for claim in step.document.claims]
        enough = len(claims) >= 5 and len(asking) > len(lesson.steps) / 2 and len(lesson.document.key_points) == 3
        if not enough or not lesson.document.references or not all(step.introduction for step in lesson.steps):
            wrong.append(lesson.name)
    assert wrong == []


def test_each_exercise_names_the_step_that_explains_it() -> None:
    """An exercise names the title of a step and not its number, which changes if a step is added before it."""
    names = {f"lesson {lesson.name[:2]}, “{step.title}”" for lesson, step in steps()}
    assert {task.name: task.read for name in NAMES for task in load().tasks(name) if task.read not in names} == {}


def test_the_shown_code_fits_a_terminal_of_80_columns_and_can_be_pasted() -> None:
    """The code compiles, contains nothing for tools, and uses only names that were shown before."""
    wrong, known, before = [], set[str](), ""
    for lesson, step in steps():
        shown, place = lesson.shown_code(step), f"{lesson.name} {step.name}"
        widest = max(len(line) for code in step.codes for line in code.splitlines())
        compiled, tree = compile(shown, place, "exec"), ast.parse(shown)
        known = {*(known if lesson.name == before else dir(builtins)), *compiled.co_names}
        before = lesson.name
        wrong += [f"{place} is too wide"] if widest > LONGEST_LINE else []
        wrong += [f"{place} does not show {name}" for name in global_names(compiled) - known]
        wrong += [f"{place} has a comment for tools"] if re.search(r"# *(noqa|type:|fmt:)", shown) else []
        wrong += [f"{place} has the type of a result" for each in ast.walk(tree) if getattr(each, "returns", None)]
    assert wrong == []


def global_names(code: CodeType) -> set[str]:
    """Return the names that the functions and classes in `code` take from the module."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*map(global_names, inner))


@pytest.mark.parametrize("name", [unless(name, QUICK_NOTEBOOK) for name in NAMES])
def test_its_notebook_runs_from_top_to_bottom_in_a_fresh_kernel(name: str, tmp_path: Path) -> None:
    """Half of the questions are answered."""
    import nbformat  # slow to import
    from nbclient import NotebookClient

    lesson, path = lesson_of(name), tmp_path / f"{name}.ipynb"
    notebook.write(lesson, path, fast=True)
    whole = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    asked = [(step.name, step.document.question) for step in lesson.steps[::2]]
    answers = {f"{name}-predict": question.expected for name, question in asked if question}
    for cell in whole.cells:
        cell.source = cell.source.replace('answer=""', f"answer={answers.get(cell.id, '')!r}")
        cell.source = re.sub(r"^# (?=guide\.run)", "", cell.source, flags=re.MULTILINE)
    here = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, startup_timeout=300, kernel_name="python3", resources=here).execute()
    for step in lesson.steps:
        (cell,) = (cell for cell in whole.cells if cell.id == f"{step.name}-run")
        printed = "\n".join(output["data"]["text/plain"] for output in cell.outputs if "data" in output)
        assert len(re.findall(marks_of(name), printed, re.MULTILINE)) == len(step.document.claims), step.name
        assert ("Your answer:" in printed) == (f"{step.name}-predict" in answers)
    assert "\x1b" not in json.dumps(whole)


def test_the_lesson_on_the_page_runs_and_does_not_refute_its_claim(tmp_path: Path) -> None:
    files = {name: text for name, _, text in WORKED_FILES.findall(PAGE)}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    name = next(iter(files))
    out, record = short_run(tmp_path, tmp_path / name)
    verdicts = {claim["id"]: claim["verdict"] for claim in record["claims"]}
    # on a busy machine, the result may be inconclusive
    assert verdicts in ({"sum-is-faster": "held"}, {"sum-is-faster": "inconclusive"})
    assert "The loop took" in out
    assert "Read the interval" in out
    (entry,) = tomllib.loads(WORKED_ENTRY.findall(PAGE)[0])["lessons"].items()
    assert f"{entry[0]}.py" == name
    assert entry[1].keys() <= {each.name for each in fields(LessonEntry)}
