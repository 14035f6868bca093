"""`check-claims` runs lessons, and counts the results of their claims."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.command_line import guarded
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.__main__ import app
from lessons.engine import check_claims
from lessons.engine.check_claims import LessonRun, run_lesson
from lessons.engine.record import Json


def run(*arguments: str | Path) -> int:
    return guarded(app, "python -m lessons", ["check-claims", *map(str, arguments)])


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Iterator[tuple[float, str]]]:
    """Replace each run of a lesson by a record with one claim.

    The test puts the measured seconds and the result of each run into the returned dict, by name of the lesson. The
    default is 2 s, "held". After the result "", the lesson failed.
    """
    results: dict[str, Iterator[tuple[float, str]]] = {}

    def answer(lesson: str) -> LessonRun:
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
    assert run() == 0
    assert re.search(r"04_autorange +x +2 s +at least 1 s +inconclusive", capsys.readouterr().out)
    planted["04_autorange"] = iter([(2.0, "held"), (0.5, "refuted"), (10.0, "inconclusive")])
    file = tmp_path / "claims.json"
    assert run("04", "--times", "3", "--json", file) == 1
    out = capsys.readouterr().out
    assert re.search(r"04_autorange +x +0.5 s to 10 s +at least 1 s +1 +1 +1 +0", out)
    assert "Refuted: 04_autorange x." in out
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert [claim["refuted"] for claim in whole["claims"]] == [1]
    assert [each["lesson"] for each in whole["runs"]] == ["04_autorange"] * 3
    planted["04_autorange"] = iter([(2.0, "")])
    assert run("04", "05") == 1
    assert "Did not run to the end: 04_autorange." in capsys.readouterr().out


def test_a_lesson_that_cannot_run_is_reported_with_its_error() -> None:
    failed = run_lesson("99_none")
    assert failed.record == {}
    assert failed.fault == f"ended with exit code 1: {failed.fault.partition(': ')[2]}"
    assert "No module named lessons.99_none" in failed.fault


def test_a_short_run_of_a_lesson_does_not_change_the_students_progress(
    monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    def run_it(command: list[str], *, env: dict[str, str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        assert command[2:5] == ["lessons.04_autorange", "--no-input", "--fast"]
        assert env[FOLDER_VARIABLE] != str(state)
        Path(command[command.index("--json") + 1]).write_text('{"fast": true}')
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run_it)
    found = run_lesson("04_autorange")
    assert (found.fault, found.record) == ("", {"fast": True})
