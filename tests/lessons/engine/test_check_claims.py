import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.command_line.command import guarded
from harness.errors import UsageError
from harness.storage.user_state import FOLDER_VARIABLE
from lessons.__main__ import app
from lessons.engine import check_claims
from lessons.engine.check_claims import chosen, run_all, run_lesson
from lessons.engine.tally import LessonRun

LESSONS = ("02_a", "04_b", "10_c")


def run(*arguments: str | Path) -> int:
    return guarded(app, "python -m lessons", ["check-claims", *map(str, arguments)])


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Replace each run of a lesson by a record with one claim.

    The test puts the claim's result into the returned dict, by name of the lesson. The default is "held".
    """
    verdicts: dict[str, str] = {}

    def answer(lesson: str) -> LessonRun:
        claim: dict[str, Any] = {
            "id": "x", "sentence": "x is so", "measured": 2.0, "shown": "2 s", "wanted": "at least 1 s", "reason": "",
        }  # fmt: skip
        return LessonRun(lesson, {"claims": [{**claim, "verdict": verdicts.get(lesson, "held")}]})

    monkeypatch.setattr(check_claims, "run_lesson", answer)
    return verdicts


def test_lessons_are_chosen_by_the_beginning_of_their_names_and_run_in_their_order() -> None:
    assert chosen(["04", "02_a"], LESSONS) == ("02_a", "04_b")
    assert chosen([], LESSONS) == LESSONS
    with pytest.raises(UsageError, match="no lesson '99'"):
        chosen(["04", "99"], LESSONS)


def test_each_lesson_runs_once_before_any_lesson_runs_again(planted: dict[str, str]) -> None:
    reported: list[str] = []
    assert [run.lesson for run in run_all(LESSONS, 2, report=reported.append)] == [*LESSONS, *LESSONS]
    assert reported[-1] == "10_c, run 2 of 2"
    assert planted == {}


def test_it_prints_every_claim_and_ends_with_0_when_none_is_refuted(
    planted: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    planted["04_autorange"] = "inconclusive"
    assert run() == 0
    out = capsys.readouterr().out
    assert re.search(r"04_autorange +x +2 s +at least 1 s +inconclusive", out)


def test_a_refuted_claim_ends_with_1_and_is_named(
    planted: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    planted["04_autorange"] = "refuted"
    file = tmp_path / "claims.json"
    assert run("04", "--times", "3", "--json", file) == 1
    assert "Refuted: 04_autorange x." in capsys.readouterr().out
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert [claim["refuted"] for claim in whole["claims"]] == [3]
    assert len(whole["runs"]) == 3


def test_a_file_that_cannot_be_written_is_reported_before_a_lesson_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_claims, "run_lesson", lambda _lesson: pytest.fail("it ran"))
    assert run("--json", "/nowhere/claims.json") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_lesson_that_cannot_run_is_reported_with_its_error() -> None:
    failed = run_lesson("99_none")
    assert failed.record == {}
    assert failed.fault == f"ended with exit code 1: {failed.fault.partition(': ')[2]}"
    assert "No module named lessons.99_none" in failed.fault


def test_a_short_run_of_a_lesson_does_not_change_the_students_progress(
    monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    def ran(command: list[str], *, env: dict[str, str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        assert command[2:5] == ["lessons.04_autorange", "--no-input", "--fast"]
        assert env[FOLDER_VARIABLE] != str(state)
        Path(command[command.index("--json") + 1]).write_text('{"fast": true}')
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", ran)
    found = run_lesson("04_autorange")
    assert (found.fault, found.record) == ("", {"fast": True})
