"""Results of runs of lessons: recorded in the kit, or made by a run."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.guide import results
from lessons.guide.results import ClaimResult


def record(**changes: Any) -> dict[str, Any]:
    environment = {"cpu": "a CPU", "cores": 2, "cuda_device": None, "python": "3.11.7", "torch": "2.13.0"}
    claim = {"id": "fast", "verdict": "held", "shown": "2×", "reason": "", "measured": 2.0, "low": 1.0, "high": None}
    steps = [
        {"name": "one", "prediction": {"question": "How fast?", "truth": "2×"}},
        {"name": "two", "prediction": {"question": "How slow?", "truth": None}},
        {"name": "three", "prediction": None},
    ]
    whole = {"format": 1, "started_utc": "2026-11-23T10:00:00", "environment": environment}
    return {**whole, "claims": [claim], "steps": steps, **changes}


def test_results_are_read_with_the_pictures_of_each_step(tmp_path: Path) -> None:
    (tmp_path / "04_autorange.json").write_text(json.dumps(record()), encoding="utf-8")
    for name in ("one-a", "one-b-c", "two-d"):
        (tmp_path / f"04_autorange-{name}.svg").write_text(name, encoding="utf-8")
    found = results.load(tmp_path)["04_autorange"]
    assert found.machine == "a CPU, 2 cores, no GPU, Python 3.11.7, torch 2.13.0"
    assert found.date == "2026-11-23"
    assert found.questions == {"one": "How fast?", "two": "How slow?"}
    assert found.truths == {"one": "2×"}
    assert found.claims["fast"].measured == 2.0
    assert found.pictures == {"one": ("one-a", "one-b-c"), "two": ("two-d",)}


def test_a_folder_without_results_and_a_file_of_another_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no results of lessons"):
        results.load(tmp_path)
    for text in ("{", "[]", json.dumps(record(format=0)), json.dumps(record(claims=[{}]))):
        (tmp_path / "04_autorange.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"04_autorange\.json is not a file that"):
            results.load(tmp_path)


def recorded_run() -> dict[str, Any]:
    made_on = {"date": "2026-11-23", "cpu": "a CPU", "cores": 2, "gpu": "", "python": "3.11.7", "torch": "2.13.0"}
    parts = [
        {"kind": "table", "title": "Times", "heads": ["", "time"], "rows": [["one", "2 s"]], "numeric": [1]},
        {"kind": "picture", "caption": "a tree", "text": "a\n└ b"},
        {"kind": "answer", "text": "Less than 2×. It took 2 s."},
        {"kind": "claim", "id": "fast", "standing": "held", "value": "1.5×", "middle": 1.5, "at_least": 1.1},
        {"kind": "paragraph", "text": "The loop runs in C."},
    ]
    return {"steps": {"one": {"made on": made_on, "question": "Is 2 s long?", "parts": parts}}}


def test_a_recorded_run_gives_the_answer_the_claims_and_what_the_screen_showed(tmp_path: Path) -> None:
    (tmp_path / "04_autorange").mkdir()
    file = tmp_path / "04_autorange" / "run.json"
    file.write_text(json.dumps(recorded_run()), encoding="utf-8")
    file.with_name("one-flame.svg").write_text("<svg/>", encoding="utf-8")
    found = results.recorded(tmp_path)["04_autorange"]
    assert found.machine == "a CPU, 2 cores, no GPU, Python 3.11.7, torch 2.13.0"
    assert found.date == "2026-11-23"
    assert found.questions == {"one": "Is 2 s long?"}
    assert found.truths == {"one": "Less than 2×. It took 2 s."}
    assert found.claims["fast"] == ClaimResult("held", "1.5×", "", 1.5, 1.1, None)
    assert found.pictures == {"one": ("<svg/>",)}
    table, picture = found.shown["one"]
    assert (table.title, table.heads, table.rows) == ("Times", ("", "time"), (("one", "2 s"),))
    assert (picture.title, picture.text, picture.rows) == ("a tree", "a\n└ b", ())
    file.write_text('{"steps": {}}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"run\.json is not a recorded run"):
        results.recorded(tmp_path)


def test_a_run_keeps_the_progress_of_the_user_and_names_failed_lessons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    states = []

    def run(command: list[str], *, env: dict[str, str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        states.append(env[FOLDER_VARIABLE])
        Path(command[command.index("--json") + 1]).write_text("{}", encoding="utf-8")
        return subprocess.CompletedProcess(command, int("02" in command[2]))

    monkeypatch.setattr(subprocess, "run", run)
    told: list[str] = []
    assert results.run_all(["01_one", "02_two"], tmp_path / "results", told.append) == ["02_two"]
    assert told == ["01_one", "02_two"]
    assert len(set(states)) == 1
    assert str(state) not in states
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["01_one.json"]
