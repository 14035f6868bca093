"""Points and comments by hand: what they change, what changes them not, and where they are shown."""

import json
from pathlib import Path

import pytest
from classroom import DOT, KIT, hand_in, points, run
from commanding import CommandResult, said
from outline import Outline

from grader import reports
from grader.class_run import journal
from grader.course.roster import Person, Roster

LATE = """
timezone = "UTC"
attempts = "{which}"
students = ["bob", "carla"]
[late]
percent_per_day = 50
closes_after_days = 1
[lessons.01_dot]
due = 2020-01-01
[lessons.02_timer]
due = 2020-01-01
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return the grades of a class: ada is late with both lessons, bob's answer is impossible, carla has no file."""
    for lesson in ("01_dot", "02_timer"):
        hand_in(tmp_path / "hw1", "ada", "right", lesson)
    hand_in(tmp_path / "hw1", "bob", "beyond")
    run(tmp_path / "hw1", course=LATE.format(which="latest"))
    return tmp_path / "out"


def lessons(out: Path, student: str) -> dict[str, float | None]:
    with journal.read(out) as book:
        return book.roll().grades()[student]


def test_points_by_hand_are_final(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lessons(out, "ada") == {"01_dot": 0.0, "02_timer": 0.0}, "closed long ago"
    assert said(capsys, "grade", out, "ada", "1", "--points", "7", "--by", "Zoe").code == 0
    assert said(capsys, "grade", out, "ada", "2.per_call", "--points", "5.5", "--comment", "ok").code == 0
    for which in ("best", "first", "latest"):
        run(tmp_path / "hw1", course=LATE.format(which=which), regrade=("ada",))
        assert lessons(out, "ada") == {"01_dot": 7.0, "02_timer": 5.5}
    open_ = LATE.format(which="latest").replace("closes_after_days = 1", "at_most_percent = 50")
    run(tmp_path / "hw1", course=open_)
    assert lessons(out, "ada") == {"01_dot": 7.0, "02_timer": 5.5 + 0.5 * 2.4}, "lateness takes off from the others"
    hand_in(tmp_path / "hw1", "ada", "wrong")
    run(tmp_path / "hw1", course=LATE.format(which="latest"))
    assert points(out)["ada"] == "7"
    with journal.claim(out, tmp_path / "hw1", kit=KIT):
        assert "Another run" in said(capsys, "grade", out, "ada", DOT, "--points", "0").err
    assert said(capsys, "grade", out, "carla", DOT, "--points", "3").code == 0
    assert points(out) == {"ada": "7", "bob": "0", "carla": "3"}
    assert said(capsys, "grade", out, "ada", "1.bat", "--points", "9").code == 0
    assert lessons(out, "ada")["01_dot"] == 9.0
    for expected in (7.0, 0.0):
        assert said(capsys, "grade", out, "ada", DOT, "--undo").code == 0
        assert lessons(out, "ada")["01_dot"] == expected
    assert said(capsys, "grade", out, "ada", DOT, "--undo").code == 2
    told = said(capsys, "grade", out, "ada", "--history").out
    assert [word in told for word in ("Zoe", "9 of 10", "taken back", "ok", "carla")] == [True] * 4 + [False]


def test_wrong_points_names_and_tasks_change_nothing(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*words: str) -> str:
        ended: CommandResult = said(capsys, *words[:1], out, *words[1:])
        assert ended.code == 2, words
        return ended.err

    for number in ("nan", "inf", "-1", "10.5"):
        refused("grade", "ada", DOT, "--points", number)
    assert "--over" in refused("grade", "ada", DOT, "--points", "11")
    assert "Did you mean ada" in refused("grade", "adda", DOT, "--points", "1")
    assert "02_timer.per_call or 02_timer.repair" in refused("grade", "ada", "2", "--points", "1")
    refused("grade", "ada", DOT, "--points", "3", "--undo")
    refused("comment", "ada", "x" * 10_001)
    with journal.read(out) as book:
        assert book.given() == ()
    assert said(capsys, "grade", out, "ada", DOT, "--points", "11", "--over").code == 0
    assert points(out)["ada"] == "11"


def test_every_report_shows_points_by_hand(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Outline((out / reports.PAGE).read_text()).text
    command = f"python -m grader grade --points N --comment WHY {out} bob {DOT}"
    assert command in page
    evil = '\x1b[2J</script><b>\u202e,"=1+1\nnext'
    assert said(capsys, "grade", out, "bob", DOT, "--points", "4", "--comment", evil, "--by", "Zoe").code == 0
    assert said(capsys, "comment", out, "bob", "Come and see me").code == 0
    page = Outline((out / reports.PAGE).read_text()).text
    assert command not in page
    own = Outline((out / "bob" / reports.PAGE).read_text()).text
    others = (out / "ada" / reports.PAGE).read_text() + (out / "ada" / reports.RESULTS).read_text()
    for text in (page, own):
        assert "4 of 10 points by hand (measured: 4, right, in an impossible time). Given by Zoe" in text
        assert "Come and see me" in text
    assert "Zoe" not in others
    result = json.loads((out / "bob" / reports.RESULTS).read_text())
    assert (result["score"], result["tests"][0]["score"]) == (4.0, 4.0)
    assert result["tests"][0]["extra_data"]["by_hand"]["by"] == "Zoe"
    assert said(capsys, "export", out, "--nbgrader", "--to", tmp_path / "n.csv").out.count("by hand") == 1
    assert ",bob,,,,4.0,0.0,4.0,10.0" in (tmp_path / "n.csv").read_text()
    for file in ("n.csv", "out/bob/report.html", "out/bob/results.json", "out/report.html"):
        text = (tmp_path / file).read_text()
        assert not {"\x1b", "\u202e"} & {*text}, file
        assert file.endswith((".json", ".csv")) or "</script><b>" not in text, file
    run(tmp_path / "hw1", regrade=("bob",))
    assert command in Outline((out / reports.PAGE).read_text()).text, "a newer grade must be checked again"
    assert points(out)["bob"] == "4"


def test_points_by_hand_stay_with_a_renamed_student(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(tmp_path / "hw1", "ada")
    run(tmp_path / "hw1", roster=Roster((Person("ada"), Person("Zoe Q", "103"))))
    out = tmp_path / "out"
    assert said(capsys, "grade", out, "103", DOT, "--points", "6").code == 0
    run(tmp_path / "hw1", roster=Roster((Person("ada"), Person("Zoe Quinn", "103"))))
    assert lessons(out, "Zoe Quinn") == {"01_dot": 6.0}
    with journal.read(out) as book:
        assert book.roll().students == ("Zoe Quinn", "ada")
