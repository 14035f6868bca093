"""`python -m lessons guide OUT`, and the commands and links on its pages."""

import html
import json
import re
from pathlib import Path

import pytest
from markdown_pages import commands
from teachers_pack import pages, written
from test_pages import fault_of
from test_results import record

from harness.command_line import guarded
from lessons import __main__ as lessons_main
from lessons.engine.catalogue import FOLDER
from lessons.guide import results
from lessons.guide.pages import ACTIVATE, INSTALL, before_class, for_students

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


def test_each_lesson_with_a_record_has_pictures_on_its_slides_and_on_its_page(pack: Path) -> None:
    recorded = results.recorded()
    assert recorded
    for name in pages():
        for folder in ("slides", "lessons"):
            text = (pack / folder / f"{name}.html").read_text(encoding="utf-8")
            pictures = re.findall(r"<img [^>]*>", text)
            assert bool(pictures) == (name in recorded), (folder, name)
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


def test_a_pack_is_not_overwritten(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    assert run(tmp_path) == 2
    assert "--force" in capsys.readouterr().err
    assert run(tmp_path / "new", "--run", "--results", tmp_path) == 2
    assert "Use one of the two options" in capsys.readouterr().err
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "mine"
    assert (pack / "index.html").is_file()


def test_a_run_shows_its_own_results_and_the_exit_code_names_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_all(_names: object, folder: Path, _report: object) -> list[str]:
        folder.mkdir(parents=True)
        (folder / "04_autorange.json").write_text(json.dumps(record()), encoding="utf-8")
        return ["05_compare"]

    monkeypatch.setattr("lessons.guide.results.run_all", run_all)
    assert run(tmp_path / "out", "--run", "--seed", "2") == 1
    told = capsys.readouterr()
    assert "Lesson 05_compare failed" in told.err
    assert f"Open {tmp_path / 'out' / 'index.html'}" in told.out
    text = (tmp_path / "out" / "lessons" / "05_compare.html").read_text(encoding="utf-8")
    assert "This pack has no results of this lesson." in text


def test_a_student_kit_has_no_pack(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lessons_main, "GUIDE", Path("no-such-folder"))
    assert run("out") == 2
    assert "The student kit does not contain the teacher's pack." in capsys.readouterr().err
