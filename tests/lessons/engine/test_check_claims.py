"""`check-claims` runs lessons, and counts the results of their claims."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.command_line import guarded
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.__main__ import app
from lessons.engine import check_claims
from lessons.engine.check_claims import LessonRun, all_well, run_lesson, summaries, summary, table
from lessons.engine.record import Json


def run(*arguments: str | Path) -> int:
    return guarded(app, "python -m lessons", ["check-claims", *map(str, arguments)])


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Replace each run of a lesson by a record with one claim.

    The test puts the claim's result into the returned dict, by name of the lesson. The default is "held".
    """
    verdicts: dict[str, str] = {}

    def answer(lesson: str) -> LessonRun:
        return ran(lesson, ("x", 2.0, verdicts.get(lesson, "held")))

    monkeypatch.setattr(check_claims, "run_lesson", answer)
    return verdicts


def test_it_prints_every_claim_and_ends_with_1_if_one_is_refuted(
    planted: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    planted["04_autorange"] = "inconclusive"
    assert run() == 0
    assert re.search(r"04_autorange +x +2 s +at least 1 s +inconclusive", capsys.readouterr().out)
    planted["04_autorange"] = "refuted"
    file = tmp_path / "claims.json"
    assert run("04", "--times", "3", "--json", file) == 1
    assert "Refuted: 04_autorange x." in capsys.readouterr().out
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert [claim["refuted"] for claim in whole["claims"]] == [3]
    assert [each["lesson"] for each in whole["runs"]] == ["04_autorange"] * 3


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


def ran(lesson: str, *claims: tuple[str, float | None, str]) -> LessonRun:
    claims_: list[Json] = [
        {
            "id": id_,
            "sentence": f"{id_} is so",
            "measured": measured,
            "shown": "" if measured is None else f"{measured:g} s",
            "wanted": "" if measured is None else "at least 1 s",
            "verdict": verdict,
            "reason": "no counter" if verdict == "skipped" else "",
        }
        for id_, measured, verdict in claims
    ]
    return LessonRun(lesson, {"claims": claims_})


RUNS = (
    ran("02_a", ("x", 2.0, "held"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
    ran("02_a", ("x", 10.0, "inconclusive"), ("y", None, "skipped")),
    ran("04_b", ("x", 3.0, "held")),
)


def test_the_verdict_of_one_run_is_a_word_and_of_several_runs_the_count_of_each_result() -> None:
    assert [each.verdict for each in summaries(RUNS)] == ["1 held, 1 inconclusive", "skipped", "held"]
    assert table(RUNS).heads[-1] == "skipped"
    assert table(RUNS[:2]).heads[-1] == "verdict"
    assert table(RUNS).rows[0] == ["02_a", "x", "2 s to 10 s", "at least 1 s", "1", "0", "1", "0"]


def test_a_refuted_claim_or_a_failed_lesson_is_not_well() -> None:
    assert all_well(RUNS)
    refuted, failed = ran("04_b", ("x", 0.0, "refuted")), LessonRun("05_c", {}, "ended with 1: it broke")
    assert not all_well((*RUNS, refuted))
    assert not all_well((*RUNS, failed))
    assert summary((*RUNS, refuted, failed)).endswith("Refuted: 04_b x. Did not run to the end: 05_c.")
