import pytest

from harness.command_line.command import guarded
from harness.glossary import load
from lessons.__main__ import app
from lessons.engine.glossary import FILE


def run(*arguments: str) -> int:
    return guarded(app, "python -m lessons", ["glossary", *arguments])


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


@pytest.mark.parametrize("width", [40, 200])
def test_all_terms_fit_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run() == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert all(term.name.split()[0] in out for term in load(FILE).terms)
    assert "`" not in out


def test_a_wrong_term_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bassline") == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "baseline" in said.err
