"""Requirements of the documents of lessons. Each test lists all that is wrong, and does not run torch.

The recorded figures stand for a run. The documents explain them with each result that a claim can have.
"""

import io
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from jinja2 import nodes
from rich.console import Console

from harness.rendering.tables import Table
from lessons.engine import parsing, phrases
from lessons.engine.catalogue import FOLDER, entry_of, short_path
from lessons.engine.document import ClaimBlock, Document, DocumentStep, Shown
from lessons.engine.explain import ClaimLine, Explained, Paragraph, StepFigures, explained, question
from lessons.engine.figures import Figures, Lacking
from lessons.engine.interval import ClaimStanding, Interval
from lessons.engine.minutes import minutes_of
from lessons.engine.predict import Judgement
from lessons.engine.recorded_run import RecordedRun
from lessons.engine.screen import Screen
from lessons.engine.source import imports_of, read_functions
from lessons.engine.templates import Template, parsed

NAMES = tuple(sorted(file.stem for file in FOLDER.glob("[0-9][0-9]_*.md") if "." not in file.stem))
MOST_LINES = 900
MOST_STEPS = 8
MOST_CLAIMS = 2
MOST_CODE = 30
ROWS, COLUMNS = 24, 80
MOST_SCREENS = {False: 18, True: 12}
"""The largest number of screens of a lesson, and of a lesson of the short path."""

MARGIN = 1.5
"""The factor that a recorded result keeps from the limits of a question's choices."""


@cache
def document(name: str) -> Document:
    return parsing.load(FOLDER / f"{name}.md")


@cache
def recorded(name: str) -> dict[str, Figures]:
    steps = RecordedRun.load(FOLDER / "recorded" / name).steps
    return {step: record.figures for step, record in steps.items()}


def measured(name: str, step: DocumentStep, **changed: object) -> StepFigures:
    figures = recorded(name)
    own = {**figures.get(step.name, {}), **changed}
    return StepFigures(own, {each: figures[each] for each in step.uses & figures.keys() - {step.name}})  # type: ignore[arg-type]


def show(name: str, step: DocumentStep, forced: dict[str, ClaimStanding], **changed: object) -> Explained:
    known = measured(name, step, **changed)
    asked = question(step.question, known) if step.question else None
    return explained(step, known, asked, forced=forced)


def texts(shown: Explained) -> Iterator[str]:
    for part in shown.parts:
        match part:
            case Paragraph(text):
                yield text
            case ClaimLine(settled, remark, words):
                yield from filter(None, (settled.claim.sentence, settled.shown, remark, words))
            case Judgement(_, _, words):
                yield words
            case Table(title, heads, rows, numeric):
                yield " ".join([title, *heads, *(row[at] for row in rows for at in numeric)])
            case _:
                yield part.caption


@pytest.mark.parametrize("name", NAMES)
def test_each_result_of_each_claim_has_words(name: str) -> None:
    """Neither a forced result, nor any figure that is lacking, leaves a sentence without its value."""
    wrong = []
    for step in document(name).steps:
        assert step.name in recorded(name), f"{step.name} has no record: python -m lessons.{name} --record"
        for standing in ClaimStanding:
            shown = show(name, step, {claim.id: standing for claim in step.claims})
            bare = [re.sub(r"`[^`]*`", "", text) for text in texts(shown)]
            wrong += [text for text in bare if re.search(r"\bnan\b|None|[{}]|\bn/a\b", text)]
        for figure in recorded(name)[step.name]:
            reason = Lacking("this machine has no such part: install it")
            for text in texts(show(name, step, {}, **{figure: reason})):
                wrong += [text] if reason.reason in text else []
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_each_figure_of_a_document_is_computed_and_each_computed_figure_is_used(name: str) -> None:
    used = {step.name: set(step.uses) for step in document(name).steps}
    for step in document(name).steps:
        for template in step.templates:
            for each in parsed(template).find_all(nodes.Getattr):
                if isinstance(each.node, nodes.Name) and each.node.name in used:
                    used[each.node.name].add(each.attr)
        for claim in step.claims:
            for whole in claim.condition.names:
                other, _, figure = whole.partition(".")
                used.get(other, set()).add(figure)
            used[step.name] |= {claim.disturbed}
    assert {step: extra for step, figures in recorded(name).items() if (extra := figures.keys() - used[step])} == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_logic_is_in_the_python_file(name: str) -> None:
    """Conditions are one level deep, and expressions are names, filters and comparisons."""
    allowed = (
        nodes.Name, nodes.Getattr, nodes.Const, nodes.Filter, nodes.Compare, nodes.Operand, nodes.Keyword,
        nodes.And, nodes.Or, nodes.Not, nodes.TemplateData, nodes.Output, nodes.If,
        nodes.Template, nodes.Test, nodes.Neg,
    )  # fmt: skip
    wrong = []
    for step in document(name).steps:
        for template in step.templates:
            for node in parsed(template).find_all(nodes.Node):
                nested = isinstance(node, nodes.If) and any(node.find_all(nodes.If)) and _is_nested(node)
                wrong += [template.text] if nested or not isinstance(node, allowed) else []
    assert wrong == []


def _is_nested(node: nodes.If) -> bool:
    inner = [each for part in (*node.body, *node.else_) for each in part.find_all(nodes.If)]
    inner += [each for branch in node.elif_ for part in branch.body for each in part.find_all(nodes.If)]
    return bool(inner)


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_short(name: str) -> None:
    lines = sum(len((FOLDER / f"{name}{end}").read_text(encoding="utf-8").splitlines()) for end in (".py", ".md"))
    steps = [step for step in document(name).steps if not step.optional]
    wrong = [f"{lines} lines"] if lines > MOST_LINES else []
    wrong += [f"{len(steps)} steps"] if len(steps) > MOST_STEPS else []
    wrong += [f"{step.name}: {len(step.claims)} claims" for step in steps if len(step.claims) > MOST_CLAIMS]
    functions = read_functions(FOLDER / f"{name}.py")
    for step in document(name).steps:
        code = sum(len(functions[each].splitlines()) for each in step.code)
        wrong += [f"{step.name}: {code} lines of code"] if code > MOST_CODE else []
    screens = len(transcript(name).splitlines()) / ROWS
    most = MOST_SCREENS[name in short_path()]
    wrong += [f"{screens:.1f} screens"] if screens > most else []
    assert wrong == []


def test_the_stated_minutes_are_those_of_the_formula() -> None:
    """Optional steps are not counted, because they run only on request."""
    formula = {}
    for name in NAMES:
        run, functions = RecordedRun.load(FOLDER / "recorded" / name), read_functions(FOLDER / f"{name}.py")
        main = [step for step in document(name).steps if not step.optional and step.name in run.steps]
        codes = {step.name: [functions[each] for each in step.code] for step in main}
        formula[name] = tuple(minutes_of(step, codes[step.name], run.steps[step.name].lasted_s) for step in main)
    # A new record on another machine may move a rounded minute.
    apart = [
        name
        for name, minutes in formula.items()
        if len(minutes) != len(entry_of(name).step_minutes)
        or any(abs(one - other) > 1 for one, other in zip(minutes, entry_of(name).step_minutes, strict=True))
    ]
    assert apart == [], {name: list(formula[name]) for name in apart}


def transcript(name: str) -> str:
    """Return what a run with the recorded figures prints, without optional steps."""
    out = io.StringIO()
    screen = Screen(Console(file=out, width=COLUMNS))
    whole, entry = document(name), entry_of(name)
    plan = f"{entry.advice} Exercise afterwards: {entry.exercise_minutes} min."
    machine = (
        "2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA · noise "
        "today: two timings of the same code differ by 5.9 %, or by 0.24 % if they alternate"
    )
    screen.header(f"Lesson {name} · {entry.title}", "30 min", whole.header["objective"], plan, machine)
    functions = read_functions(FOLDER / f"{name}.py")
    steps, before = whole.steps, ""
    for number, step in enumerate(steps, start=1):
        if step.optional:
            screen.left_out(number, len(steps), step.title)
            continue
        screen.open_step(number, len(steps), step.title, "\n\n".join(step.introduction))
        code = "\n\n".join(functions[each] for each in step.code)
        imports = imports_of(FOLDER / f"{name}.py", needed_by=code, known=before)
        screen.code("\n\n".join(filter(None, (imports, code))))
        before += f"{code}\n"
        known = measured(name, step)
        asked = question(step.question, known) if step.question else None
        if asked:
            screen.ask(asked.question, asked.offer())
        for part in explained(step, known, asked).parts:
            screen.show(part, FOLDER)
    screen.closing(whole.key_points, whole.references)
    screen.your_turn(f"lessons/exercises/{name}.py", f"fairclock check {name}", "fairclock lessons 05_compare")
    return out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_recorded_results_keep_a_distance_from_the_limits_of_the_choices(name: str) -> None:
    wrong = []
    for step in document(name).steps:
        found = recorded(name).get(step.name, {}).get(step.question.figure) if step.question else None
        if not step.question or not step.question.limits or isinstance(found, str | Lacking | None):
            continue
        middle = found.middle if isinstance(found, Interval) else float(found)  # type: ignore[arg-type]
        for limit in step.question.limits:
            near = middle > 0 and limit > 0 and max(middle / limit, limit / middle) < MARGIN
            counted = isinstance(found, int) and not isinstance(found, bool)
            wrong += [f"{step.name}: {middle:.3g} at a limit of {limit:g}"] if near and not counted else []
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_that_a_document_does_not_measure_has_a_source(name: str) -> None:
    figure = re.compile(r"\d\s?(%|×(?!\s?\d)|[nµm]?s\b|[KMG]iB\b|times\b|percent\b)")
    source = re.compile(
        r"recipe|quick start|lecture|guide|manual|documentation|warns|torch's|[Pp]ublished|\.py\b|†|note"
    )
    wrong = []
    for step in document(name).steps:
        for template in step.templates:
            if template is not (step.question.text if step.question else None):
                fixed = " ".join(each.data for each in parsed(template).find_all(nodes.TemplateData))
                wrong += [fixed] if figure.search(fixed) and not source.search(fixed) else []
    assert wrong == []


@pytest.mark.parametrize("file", sorted(FOLDER.glob("[0-9][0-9]_*.*.md")), ids=lambda file: file.name)
def test_a_translation_has_the_blocks_and_the_figures_of_its_original(file: object) -> None:
    original = document(str(getattr(file, "name", "")).split(".")[0])
    translated = parsing.load(FOLDER / str(getattr(file, "name", "")))
    for one, other in zip(original.steps, translated.steps, strict=True):
        assert [shape(block) for block in one.blocks] == [shape(block) for block in other.blocks], one.name
        assert (one.name, one.code, one.fast, one.optional, one.needs) == (
            other.name, other.code, other.fast, other.optional, other.needs,
        )  # fmt: skip
        assert one.uses == other.uses, one.name
        assert len(one.introduction) == len(other.introduction), one.name
    assert len(original.key_points) == len(translated.key_points)
    assert len(original.recall) == len(translated.recall)


def test_each_translated_phrase_exists_and_has_the_values_of_the_english_one() -> None:
    engine = "\n".join(file.read_text(encoding="utf-8") for file in (FOLDER / "engine").glob("*.py"))
    values = re.compile(r"\{\w+\}")
    tables = tomllib.loads(phrases.FILE.read_text(encoding="utf-8"))
    assert {english for table in tables.values() for english in table if english not in engine} == set()
    assert len({frozenset(table) for table in tables.values()}) == 1
    pairs = [pair for table in tables.values() for pair in table.items()]
    assert [one for one, other in pairs if sorted(values.findall(one)) != sorted(values.findall(other))] == []


def shape(block: object) -> tuple[object, ...]:
    match block:
        case ClaimBlock():
            return ("claim", block.id, block.condition, block.unit)
        case Shown():
            return (block.kind, block.figure, block.unit, tuple(unit for _, unit in block.columns))
        case _:
            return ("words",)


def test_each_certain_claim_of_the_list_of_lessons_is_a_claim() -> None:
    claims = {name: {claim.id for step in document(name).steps for claim in step.claims} for name in NAMES}
    assert {name: gone for name in NAMES if (gone := set(entry_of(name).certain) - claims[name])} == {}


def test_a_mistake_in_a_document_names_its_file_and_line() -> None:
    head = "---\nobjective: x\n---\n\n"
    for text, words in (
        ("# One\n", "A heading begins with `##`"),
        ("## One\n", "does not end with the name of its step"),
        ("## One {#one}\n\nText.\n", "has 0 directives {run}"),
        ("## One {#one}\n\n:::{run} two\n:::\n", "must name the step's own function one last"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{tabel} x\n:::\n", "There is no directive {tabel}"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{claim} a\n:holds: x > 2\ns\n:::\n", "is not a condition"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{claim} a\n:holds: x >= 2\n:unti: s\ns\n:::\n", "no option 'unti'"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{claim} a\n:holds: x >= 2\n:unit: sec\ns\n:::\n", "sec"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{table} x\n:columns:\n  - a\n  - a\n:::\n", "the same head"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{output} a\n:unit: seconds\n:::\n", "no option 'unit'"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{histogram} a\n:unit: sec\n:::\n", "sec"),
        ("## One {#one}\n\n:::{run}\n:::\n\n- a list\n", "paragraphs and directives"),
        ("## One {#one}\n\n:::{run}\n:::\n\n:::{question} x\n:limits: 1\nHow?\n:::\n", "`:expected:`|:expected:"),
    ):
        with pytest.raises(parsing.DocumentError, match=rf"x\.md, line \d+: .*({words})"):
            parsing.parse(FOLDER / "x.md", head + text)


def test_a_text_about_an_earlier_step_that_is_lacking_is_left_out() -> None:
    text = (
        "## Two {#two}\n\n:::{run}\n:::\n\n:::{question} sure\n:choices:\n  - yes\n  - no\n:expected: a\n"
        "It took {{ one.time_s | seconds }}. Yes?\n:::\n\nIt took {{ one.time_s | seconds }}.\n\nFixed.\n"
    )
    (step,) = parsing.parse(FOLDER / "z.md", text).steps
    assert step.question
    measured = StepFigures({"sure": "a"}, {"one": Lacking("no counter: install it")})
    asked = question(step.question, measured)
    assert asked.question == "It took …. Yes?"
    assert list(texts(explained(step, measured, asked))) == ["yes.", "Fixed."]
    assert list(texts(explained(step, replace(measured, figures=Lacking("no counter: install it")), asked))) == [
        "This run gives no clear answer."
    ]


def test_a_name_that_no_figure_has_is_reported_with_its_line() -> None:
    text = "## One {#one}\n\n:::{run}\n:::\n\nThe time is {{ tme_s | seconds }}.\n"
    (step,) = parsing.parse(FOLDER / "y.md", text).steps
    with pytest.raises(parsing.DocumentError, match=r"y\.md, line 6: 'tme_s' is undefined"):
        explained(step, StepFigures({"time_s": 1.0}))
    assert Template("fixed", step.place).render({}) == "fixed"
