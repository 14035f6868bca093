"""The lessons named in the pages exist, and run the code that the table of PyTorch's guides lists."""

import importlib
import re
from pathlib import Path

import pytest
from markdown_pages import pages

from lessons.engine.catalogue import entries
from lessons.engine.lesson import Lesson

ROOT = Path(__file__).parent.parent
GUIDES = (ROOT / "lessons" / "README.md").read_text(encoding="utf-8")
TABLE = (ROOT / "README.md").read_text(encoding="utf-8")
OTHERS = ROOT / "tests" / "exploits" / "README.md"
"""The page about exploits, whose names look like names of lessons. `tests/test_markdown.py` checks its links."""
NAMED = {
    name
    for page in pages()
    if page != OTHERS
    for name in re.findall(r"\b\d\d_[a-z]\w+\b", page.read_text(encoding="utf-8"))
}
CURRICULUM = (
    "01_correct_first",
    "02_timeit_vs_timer",
    "03_cuda_sync",
    "04_autorange",
    "05_compare",
    "06_ab_testing",
    "07_fuzzing",
    "08_callgrind",
    "09_cprofile",
    "10_memory",
    "11_torch_profiler",
    "12_jit_fusion",
    "13_bytecode",
    "14_extensions",
    "15_instruction_suite",
    "16_sampling",
    "17_peaks_and_leaks",
    "18_threads",
    "19_compile",
)
SHOWN_BY = {
    ("02_timeit_vs_timer", 2): ("timeit.timeit(", "timeit.Timer(", ".repeat(", ".autorange("),
    ("02_timeit_vs_timer", 6): ("Timer(", "label=", "sub_label=", "description=", "env=", "globals="),
    ("02_timeit_vs_timer", 7): ("num_threads=", "timer.timeit("),
    ("04_autorange", 3): (".blocked_autorange(", "Timer("),
    ("05_compare", 2): ("label=", "sub_label=", "description=", ".blocked_autorange("),
    ("05_compare", 4): ("product(", "num_threads=", "sub_label=", "description=", ".blocked_autorange("),
    ("05_compare", 6): ("Compare(", ".trim_significant_figures(", ".colorize(", "pickle.loads(pickle.dumps(table))"),
}
"""The calls that a step must run, so that the table of the guides is right."""
EXAMPLES = {"20_row_norms", "20_builtin_sum"}
"""The exercise and the lesson that the pages write as examples."""


def guides() -> list[tuple[str, str, str]]:
    rows = re.findall(r"^\| (recipe|quick start) \| (.+?) \| (.+?) \|$", GUIDES, re.MULTILINE)
    assert len(rows) == 14
    return rows


def steps_named() -> set[tuple[str, int]]:
    named = re.findall(r"(\d\d_\w+), steps? (\d+)(?: and (\d+))?", " ; ".join(where for _, _, where in guides()))
    return {(lesson, int(number)) for lesson, *numbers in named for number in numbers if number}


def test_every_lesson_of_the_kit_is_one_of_the_curriculum() -> None:
    assert {entry.name for entry in entries()} <= set(CURRICULUM)


def test_the_table_of_the_readme_has_every_lesson() -> None:
    assert tuple(re.findall(r"^\| (\d\d_\w+) \|", TABLE, re.MULTILINE)) == CURRICULUM


@pytest.mark.parametrize("name", sorted(NAMED - EXAMPLES))
def test_every_lesson_named_exists_or_is_to_come(name: str) -> None:
    assert name in CURRICULUM


def test_every_section_of_the_guides_names_a_lesson_that_runs_it() -> None:
    for guide, section, where in guides():
        assert re.search(r"\d\d_\w+", where), f"{guide}: {section}"


def test_the_steps_named_run_what_the_section_is_about() -> None:
    assert steps_named() == set(SHOWN_BY)
    for (name, number), calls in SHOWN_BY.items():
        lesson = importlib.import_module(f"lessons.{name}").lesson
        assert isinstance(lesson, Lesson)
        step = lesson.steps[number - 1]
        missing = [call for call in calls if call not in f"{step.given_code}\n{step.code}"]
        assert missing == [], f"{name}, step {number}: {step.title}"
