"""`python -m lessons guide OUT`: its files, their commands and links, and the results of runs that it shows."""

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from markdown_pages import commands
from teachers_pack import pages, written
from test_pages import fault_of

from harness.command_line import guarded
from harness.errors import UsageError
from harness.storage.user_files import FOLDER_VARIABLE
from lessons import __main__ as lessons_main
from lessons.engine.catalogue import FOLDER
from lessons.engine.check_claims import LessonRun
from lessons.engine.figures import Figures
from lessons.engine.interval import Interval
from lessons.engine.recorded_run import RecordedOn, RecordedRun, RecordedStep
from lessons.guide import results
from lessons.guide.pages import ACTIVATE, INSTALL, before_class, for_students
from lessons.guide.results import LessonResults

ROOT = FOLDER.parent


def run(*arguments: object) -> int:
    return guarded(lessons_main.app, "python -m lessons", ["guide", *map(str, arguments)])


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory)


def test_each_link_leads_to_a_file_of_the_pack(pack: Path) -> None:
    files = sorted(pack.rglob("*.html"))
    assert len(files) == 7 + 2 * len(pages())
    ids = {page: set(re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8"))) for page in files}
    for page in files:
        for target in re.findall(r'<a [^>]*href="([^"]+)"', page.read_text(encoding="utf-8")):
            path, _, place = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.is_file(), (page.name, target)
            assert not place or place in ids[linked], (page.name, target)


def test_the_pictures_of_a_lesson_are_on_its_slides_and_on_its_page(pack: Path) -> None:
    drawn = {name: any(step.pictures or step.photos for step in page.steps) for name, page in pages().items()}
    assert sum(drawn.values()) > len(drawn) / 2
    for name in (name for name in drawn if drawn[name]):
        for folder in ("slides", "lessons"):
            text = (pack / folder / f"{name}.html").read_text(encoding="utf-8")
            pictures = re.findall(r"<img [^>]*>", text)
            assert pictures, (folder, name)
            assert all(
                re.match(r'<img alt="[^"]{3,}" src="data:image/(svg\+xml|png);base64,', each) for each in pictures
            )


def commands_on(page: Path, kind: str = "commands") -> list[str]:
    """Return the commands on a page, one per line of its blocks of this kind."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(rf'<code class="{kind}">(.*?)</code>', text, re.DOTALL)
    return [html.unescape(line) for block in blocks for line in block.strip().splitlines()]


def test_the_commands_on_the_pages_exist_and_each_page_says_which_python_to_call(pack: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (pack / "index.html", *(pack / "lessons").iterdir()):
        assert commands_on(page, "install") == [INSTALL, ACTIVATE], page.name
        assert "<code>python</code> means <code>.venv/bin/python</code>" in page.read_text(encoding="utf-8")
    first = next(line for line in readme.splitlines() if line.startswith("    python"))
    assert first.startswith(f"    {INSTALL} && ")
    listed = commands_on(pack / "lessons" / "04_autorange.html")
    lesson = pages()["04_autorange"]
    assert listed == [*before_class(lesson), *for_students(lesson)]
    assert {each: fault for each in listed if (fault := fault_of(*commands(f"    {each}")))} == {}


def test_a_pack_is_not_overwritten_and_a_student_kit_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    assert run(tmp_path) == 2
    assert "--force" in capsys.readouterr().err
    assert run(tmp_path / "new", "--run", "--results", tmp_path) == 2
    assert "Use one of the two options" in capsys.readouterr().err
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "mine"
    monkeypatch.setattr(lessons_main, "GUIDE", Path("no-such-folder"))
    assert run(tmp_path / "new") == 2
    assert "The student kit does not contain the teacher's pack." in capsys.readouterr().err


@pytest.mark.long
def test_a_run_shows_its_own_results_and_the_exit_code_names_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_all(_names: object, folder: Path, _report: object) -> list[LessonRun]:
        folder.mkdir(parents=True)
        (folder / "04_autorange.json").write_text(json.dumps(record()), encoding="utf-8")
        return [LessonRun("05_compare", {}, "ended with exit code 1: no torch")]

    monkeypatch.setattr("lessons.guide.results.run_all", run_all)
    assert run(tmp_path / "out", "--run", "--seed", "2") == 1
    printed = capsys.readouterr()
    assert "Lesson 05_compare ended with exit code 1: no torch. So" in printed.err
    assert f"Open {tmp_path / 'out' / 'index.html'}" in printed.out
    text = (tmp_path / "out" / "lessons" / "05_compare.html").read_text(encoding="utf-8")
    assert "This pack has no results of this lesson." in text


def record(**changes: Any) -> dict[str, Any]:
    environment = {"cpu": "a CPU", "cores": 2, "cuda_device": None, "python": "3.11.7", "torch": "2.13.0"}
    steps = [
        {"name": "one", "figures": {"ratio": {"interval": [2.0, 1.5, 2.5, 0.0]}}},
        {"name": "two", "figures": None},
    ]
    return {"format": 1, "started_utc": "2026-11-23T10:00:00", "environment": environment, "steps": steps, **changes}


def test_results_are_the_figures_of_each_step_with_machine_and_date(tmp_path: Path) -> None:
    (tmp_path / "04_autorange.json").write_text(json.dumps(record()), encoding="utf-8")
    machine = "a CPU, 2 cores, no GPU, Python 3.11.7, torch 2.13.0"
    figures: dict[str, Figures] = {"one": {"ratio": Interval(2.0, 1.5, 2.5)}}
    assert results.load(tmp_path) == {"04_autorange": LessonResults(machine, "2026-11-23", figures)}
    made_on = RecordedOn("2026-11-23", "a CPU", 2, "", "3.11.7", "2.13.0")
    recorded = tmp_path / "recorded"
    RecordedRun({"one": RecordedStep(made_on, 1.0, figures["one"])}).save(recorded / "04_autorange")
    assert results.recorded(recorded) == results.load(tmp_path)
    RecordedRun({}).save(recorded / "04_autorange")
    with pytest.raises(UsageError, match=r"run\.json has no recorded step"):
        results.recorded(recorded)


def test_a_folder_without_results_and_a_file_of_another_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no results of lessons"):
        results.load(tmp_path)
    for text in ("{", "[]", json.dumps(record(format=0)), json.dumps(record(steps=[{}]))):
        (tmp_path / "04_autorange.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"04_autorange\.json is not a file that"):
            results.load(tmp_path)


def test_a_run_keeps_progress_and_names_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    states = []

    def run(command: list[str], *, env: dict[str, str], **_rest: Any) -> subprocess.CompletedProcess[str]:
        states.append(env[FOLDER_VARIABLE])
        Path(command[command.index("--json") + 1]).write_text("{}", encoding="utf-8")
        return subprocess.CompletedProcess(command, int("02" in command[2]), "", "no torch")

    monkeypatch.setattr(subprocess, "run", run)
    reported: list[str] = []
    failed = results.run_all(["01_one", "02_two"], tmp_path / "results", reported.append)
    assert failed == [LessonRun("02_two", {}, "ended with exit code 1: no torch")]
    assert reported == ["01_one", "02_two"]
    assert len(set(states)) == 1
    assert str(state) not in states
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["01_one.json"]
