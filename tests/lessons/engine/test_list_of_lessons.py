"""The commands of `python -m lessons`: the list of lessons and its paths, glossary, notebooks and `check-claims`."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sessions import Play

from grader.catalogue import all_tasks
from harness.command_line import guarded
from harness.glossary import parse
from harness.storage.user_files import FOLDER_VARIABLE
from lessons import __main__ as main
from lessons.__main__ import app
from lessons.engine import catalogue, check_claims, listing, route
from lessons.engine.catalogue import FOLDER, LessonEntry, listed
from lessons.engine.check_claims import LessonRun, run_lesson
from lessons.engine.glossary import FILE
from lessons.engine.listing import FIRST_SUCCESS_MIN
from lessons.engine.progress import ProgressFile
from lessons.engine.record import Json
from lessons.engine.route import FULL, SHORT, lessons_of


def lessons(*arguments: str | Path) -> int:
    """Run `python -m lessons`, and return its exit code."""
    return guarded(app, "python -m lessons", list(map(str, arguments)))


def test_the_list_has_each_lesson_once_with_its_minutes_and_after_its_prerequisites() -> None:
    assert sorted(listed()) == sorted(path.stem for path in FOLDER.glob("[0-9][0-9]_*.py"))
    for path in (lessons_of(FULL), lessons_of(SHORT)):
        places = list(enumerate(path))
        assert [name for place, name in places if not set(listed()[name].prerequisites) <= set(path[:place])] == []
    for name, entry in listed().items():
        assert all((entry.title, entry.exercise_minutes, entry.tasks)), name
    for task in all_tasks():
        needed = ["torch"] * task.needs_torch + ["a C compiler"] * task.exam.in_c
        assert listed()[task.lesson].tasks[task.name] == needed, task.full_name
    assert listed()[lessons_of(FULL)[0]].steps_within(FIRST_SUCCESS_MIN) >= 2, "the first lesson has an early success"


def test_a_kit_has_only_the_lessons_whose_files_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for names, short in (
        (["13_bytecode"], ["13_bytecode"]),
        (["05_compare", "09_cprofile"], ["09_cprofile", "05_compare"]),
    ):
        folder = tmp_path / names[0]
        folder.mkdir()
        for name in names:
            (folder / f"{name}.py").touch()
        monkeypatch.setattr(route, "listed", lambda folder=folder: listed(folder))
        assert lessons_of(SHORT) == tuple(short)
        assert lessons_of(FULL) == tuple(names)


def test_the_list_shows_predictions_and_points_with_a_heading_and_totals(
    state: Path, prepare: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        "small_lesson": LessonEntry("small_lesson", "How *small*?", step_minutes=(2, 1), exercise_minutes=20),
        "02_other": LessonEntry("02_other", "B", ("small_lesson",), step_minutes=(6,)),
    }
    monkeypatch.setattr(route, "entry_of", found.get)
    monkeypatch.setattr(route, "listed", lambda: found)
    played = prepare(typed=["b", "8"])
    played.session.play()
    ProgressFile().save(played.session.record())
    saved = {"small_lesson": {"points": 4, "possible": 10}, "02_other": {"points": 2.5, "possible": 5}}
    (state / "exercise_points.json").write_text(json.dumps({"format": 1, "lessons": saved}))
    assert lessons() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Lesson", "After", "Minutes", "Progress", "Claims", "Predicted", "Points"]
    assert re.search(r"small_lesson +5 \+ 20 +done +2/2 +1/2 +4/10", lines[1])
    assert lines[2].strip() == "How small?"
    assert re.search(r"02_other +small +5 +new +2.5/5", lines[3])
    assert re.search(r"Total +10 \+ 20 +1/2 done +1/2 +6.5/15", lines[5])


def test_a_chosen_path_is_kept_and_the_list_follows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert lessons("--path", "short") == 0
    assert lessons() == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"\d\d_", line)]
    assert listed == 2 * list(lessons_of(SHORT))
    with_exercise = [line.split()[0] for line in lines if re.match(r"\d\d_.* \d+ \+ \d+ ", line)]
    assert with_exercise == 2 * list(catalogue.short_path_exercises())
    assert "Path:  short. For all 20 lessons: fairclock lessons --path full" in lines
    assert lessons("--path", "full") == 0
    out = capsys.readouterr().out
    assert "Path:  full. For a short path (02, 04, 09, 05): fairclock lessons --path short" in out
    assert out.index("\n02_timeit_vs_timer") < out.index("\n01_correct_first")
    assert out.index("\n13_bytecode") < out.index("\n12_jit_fusion")


def test_only_a_new_student_reads_how_far_ten_minutes_go(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lessons() == 0
    out = " ".join(capsys.readouterr().out.split())
    assert " new " in out
    assert "fairclock lessons glossary [TERM]" in out
    assert re.search(r"Start: the first \d steps of 02_timeit_vs_timer take about 10 minutes\.", out)
    complete(state, "02_timeit_vs_timer")
    assert lessons() == 0
    out = capsys.readouterr().out
    assert "Start:" not in out
    assert "Next:  fairclock lessons 01_correct_first\n" in out
    complete(state, *lessons_of(SHORT))
    assert lessons("--path", "short") == 0
    assert "Next:  fairclock lessons --path full\n" in capsys.readouterr().out


def complete(state: Path, *lessons: str) -> None:
    """Write a progress file of a student who has completed these lessons."""
    row = {"last_run_utc": "2026-01-02T03:04:05+00:00", "complete": True, "steps_done": 1, "left": None}
    row |= {"claims": {}, "predictions": {}, "durations_s": {}}
    state.mkdir(exist_ok=True)
    text = json.dumps({"format": 1, "lessons": dict.fromkeys(lessons, row)})
    (state / "progress.json").write_text(text, encoding="utf-8")


def test_damaged_files_are_reported_or_left_out(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.mkdir()
    (state / "progress.json").write_text("{")
    assert lessons() == 0
    assert "was damaged" in capsys.readouterr().out
    for damage in (b"", b"shrot\n", b"\xff"):
        (state / route.FILE).write_bytes(damage)
        assert route.chosen() == FULL
    for content in ("", "{", "[]", '{"format": 2, "lessons": {}}', '{"format": 1, "lessons": {"a": 3}}'):
        (state / "exercise_points.json").write_text(content)
        assert listing.load_points() == {}, content


def test_an_edited_notebook_is_reported_and_all_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "lesson_names", lambda: ("04_autorange", "07_fuzzing", "13_bytecode"))
    assert lessons("notebooks", str(tmp_path)) == 0
    filled, gone = tmp_path / "lesson_04_autorange.ipynb", tmp_path / "lesson_13_bytecode.ipynb"
    filled.write_text(work := filled.read_text().replace('answer=\\"\\"', 'answer=\\"b\\"'))
    gone.unlink()
    capsys.readouterr()
    assert lessons("notebooks", str(tmp_path)) == 2
    said = capsys.readouterr()
    assert f"Wrote {gone}." in said.out
    assert f"because you have edited these files: {filled}." in said.err
    assert "--force" in said.err
    assert filled.read_text() == work
    assert lessons("notebooks", str(tmp_path), "--force") == 0
    assert filled.read_text() != work


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_glossary_and_the_list_fit_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert lessons("glossary") == 0
    out = capsys.readouterr().out
    assert all(term.name.split()[0] in out for term in parse(FILE.read_text(encoding="utf-8")).terms)
    assert "`" not in out
    if width >= 80:
        assert lessons("--path", "short") == 0
        out += capsys.readouterr().out
        assert "\n04_autorange" in out
    assert max(map(len, out.splitlines())) <= width


def test_a_term_is_printed_with_its_names_lesson_and_related_terms(capsys: pytest.CaptureFixture[str]) -> None:
    assert lessons("glossary", "Interquartile", "ranges") == 0
    out = capsys.readouterr().out
    parts = ("IQR\n", "Also called: interquartile range", "Lesson: 02_timeit_vs_timer", "See also: median, quartile")
    assert [part for part in parts if part not in out] == []


def test_a_wrong_argument_is_one_sentence_with_the_right_ones(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.write_text("a file where the folder should be")
    for arguments, words in (
        (["99_none"], "99_none"),
        (["glossary", "bassline"], "baseline"),
        (["--path", "shrot"], "fairclock lessons --path short"),
        (["--path", "short"], FOLDER_VARIABLE),
    ):
        assert lessons(*arguments) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert words in said.err


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Iterator[tuple[float, str]]]:
    """Replace each run of a lesson by a record with one claim.

    The test puts the measured seconds and the result of each run into the returned dict, by name of the lesson. The
    default is 2 s, "held". After the result "", the lesson failed.
    """
    results: dict[str, Iterator[tuple[float, str]]] = {}

    def answer(lesson: str, _option: str) -> LessonRun:
        measured, verdict = next(results.get(lesson, iter(())), (2.0, "held"))
        claim: dict[str, Json] = {"id": "x", "sentence": "x is so", "wanted": "at least 1 s", "reason": ""}
        claim |= {"measured": measured, "shown": f"{measured:g} s", "verdict": verdict}
        return LessonRun(lesson, {"claims": [claim]}) if verdict else LessonRun(lesson, {}, "ended with 1: it broke")

    monkeypatch.setattr(check_claims, "run_lesson", answer)
    return results


def test_it_counts_the_results_of_every_claim_and_ends_with_1_if_one_is_refuted_or_a_lesson_fails(
    planted: dict[str, Iterator[tuple[float, str]]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    planted["04_autorange"] = iter([(2.0, "inconclusive")])
    assert lessons("check-claims") == 0
    assert re.search(r"04_autorange +x +2 s +at least 1 s +inconclusive", capsys.readouterr().out)
    planted["04_autorange"] = iter([(2.0, "held"), (0.5, "refuted"), (10.0, "inconclusive")])
    file = tmp_path / "claims.json"
    assert lessons("check-claims", "04", "--times", "3", "--json", file) == 1
    out = capsys.readouterr().out
    assert re.search(r"04_autorange +x +0.5 s to 10 s +at least 1 s +1 +1 +1 +0", out)
    assert "Refuted: 04_autorange x." in out
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert [claim["refuted"] for claim in whole["claims"]] == [1]
    assert [each["lesson"] for each in whole["runs"]] == ["04_autorange"] * 3
    planted["04_autorange"] = iter([(2.0, "")])
    assert lessons("check-claims", "04", "05") == 1
    assert "Did not run to the end: 04_autorange." in capsys.readouterr().out


def test_a_lesson_that_cannot_run_is_reported_with_its_error() -> None:
    failed = run_lesson("99_none", "--fast")
    assert failed.record == {}
    assert failed.fault == f"ended with exit code 1: {failed.fault.partition(': ')[2]}"
    assert "No module named lessons.99_none" in failed.fault


def test_a_short_run_does_not_change_the_progress(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    def run_it(command: list[str], *, env: dict[str, str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        assert command[2:5] == ["lessons.04_autorange", "--no-input", "--fast"]
        assert env[FOLDER_VARIABLE] != str(state)
        Path(command[command.index("--json") + 1]).write_text('{"fast": true}')
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run_it)
    found = run_lesson("04_autorange", "--fast")
    assert (found.fault, found.record) == ("", {"fast": True})
