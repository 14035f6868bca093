import re
import tomllib

import pytest

from harness.command_line.command import guarded
from harness.glossary import Term, key, load
from lessons.__main__ import app
from lessons.engine.catalogue import FOLDER
from lessons.engine.glossary import FILE

GLOSSARY = load(FILE)
MOST_SENTENCES, MOST_WORDS = 3, 25
EXPECTED = """
oracle, eps, unit roundoff, IQR, median, block, tier, baseline, duel, guard, round, pair, candidate, ratio, noise,
A/A control, overhead, no-op call, warm-up, cold start, cache, memory layout, ASLR, core, lane, hyperthread, CPU
time, wall time, interval, inconclusive, claim, opcode, instruction, Callgrind, stack, heap, resident memory, peak
memory, tracemalloc, profiler, own time, cumulative time, flame graph, trace, operator, kernel, fusion, graph
break, recompilation, eager, dtype, broadcasting, view, stride, contiguous, synchronise, stream, fuzzer, p95,
quantile, standard deviation, standard error, sign test, seed, draw, simulated world, scenario, wheel, sandbox,
GIL, extension, ctypes
"""


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s+(?=[A-Z`])", text)


def run(*arguments: str) -> int:
    return guarded(app, "python -m lessons", ["glossary", *arguments])


def test_the_terms_are_in_alphabetical_order() -> None:
    names = [term.name.casefold().replace("-", " ") for term in GLOSSARY.terms]
    assert names == sorted(names)


def test_no_name_is_given_twice() -> None:
    keys = [key(name) for term in GLOSSARY.terms for name in term.names]
    assert sorted(set(keys)) == sorted(keys)


@pytest.mark.parametrize("term", GLOSSARY.terms, ids=lambda term: term.name)
def test_a_term_is_explained_in_a_few_short_sentences(term: Term) -> None:
    found = sentences(term.meaning)
    assert len(found) <= MOST_SENTENCES
    assert all(len(sentence.split()) <= MOST_WORDS for sentence in found)
    assert all(sentence.endswith((".", "!")) for sentence in found)
    assert term.meaning.count("`") % 2 == 0


@pytest.mark.parametrize("term", [term for term in GLOSSARY.terms if term.lesson], ids=lambda term: term.name)
def test_the_lesson_that_introduces_a_term_uses_it(term: Term) -> None:
    text = (FOLDER / f"{term.lesson}.py").read_text(encoding="utf-8")
    assert term in GLOSSARY.used_in(text)


@pytest.mark.parametrize("name", " ".join(EXPECTED.split()).split(", "))
def test_a_word_that_students_meet_is_in_it(name: str) -> None:
    GLOSSARY.find(name)


def test_it_is_part_of_the_wheel() -> None:
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert FILE.name in project["tool"]["setuptools"]["package-data"]["lessons"]


def test_a_term_is_printed_with_its_names_lesson_and_related_terms(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("Interquartile", "ranges") == 0
    out = capsys.readouterr().out
    for part in (
        "IQR\n",
        "Also called: interquartile range",
        "Lesson: 02_timeit_vs_timer",
        "See also: median, quartile",
    ):
        assert part in out


@pytest.mark.parametrize("width", [40, 80, 200])
def test_all_terms_fit_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run() == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert all(term.name.split()[0] in out for term in GLOSSARY.terms)
    assert "`" not in out


def test_a_wrong_term_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bassline") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "The glossary has no term 'bassline'; close terms are: baseline, deadline.\n"


def test_help_says_what_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "Explain a term of the lessons" in capsys.readouterr().out


def test_the_list_of_lessons_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(app, "python -m lessons", []) == 0
    assert "python -m lessons glossary [TERM]" in capsys.readouterr().out
