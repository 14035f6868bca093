"""The reports that other programs read: Gradescope's results.json, JUnit XML, and nbgrader's CSV."""

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree as ET

from exported import changed, class_of, submission, with_a_fault

from grader.course.results import HandIn
from grader.course.roll import Roll
from grader.records import Speed
from grader.reports import gradescope, junit, nbgrader

WAITING = (HandIn("zoe", "02_timer", "zoe/02_timer.py", "00"),)


def result_of(roll: Roll, student: str = "ada") -> Any:
    """Return the content of a student's results.json."""
    return json.loads(gradescope.render(dict(roll.one_by_one())[student]))


def test_a_result_has_gradescopes_shape_and_our_evidence() -> None:
    result = result_of(class_of(submission()))
    keys = "execution_time extra_data leaderboard output output_format score stdout_visibility tests visibility"
    assert " ".join(sorted(result)) == keys
    assert (result["score"], result["execution_time"], result["stdout_visibility"]) == (6.0, 0.25, "hidden")
    evidence = {"status": "PASSED", "cost": "TIME", "ratio": 3.0, "low": 2.9, "high": 3.1, "rounds": 2, "tier": 1}
    assert result["tests"] == [
        {
            "name": "01_dot.batched",
            "score": 6.0,
            "max_score": 10.0,
            "status": "passed",
            "output": "Right on all 60 cases.",
            "output_format": "text",
            "visibility": "visible",
            "extra_data": evidence,
        }
    ]
    assert result["leaderboard"] == [{"name": "Dot: batched", "value": 3.0, "order": "desc"}]


def test_an_impossible_time_and_a_ratio_without_a_number_are_on_no_leaderboard() -> None:
    result = result_of(class_of(submission("ada", "beyond")))
    assert result["leaderboard"] == []
    assert (result["tests"][0]["score"], result["tests"][0]["extra_data"]["status"]) == (4, "IMPOSSIBLE")
    endless = changed(class_of(submission()), speed=Speed(float("inf"), 1.0, float("nan"), 3, 2))
    result = result_of(endless)
    assert result["tests"][0]["extra_data"]["ratio"] is None


def suites(roll: Roll) -> dict[str, ET.Element]:
    text = junit.render(roll)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    return {suite.attrib["name"]: suite for suite in ET.fromstring(text.encode())}  # noqa: S314 - written by the kit


def test_a_wrong_answer_is_a_failure_a_fault_of_ours_an_error_and_a_wait_is_skipped() -> None:
    found = suites(with_a_fault(class_of(submission("ada"), submission("bob", "wrong"), waiting=WAITING)))
    counted = ("failures", "errors", "skipped")
    assert [tuple(found[name].attrib[one] for one in counted) for name in ("ada", "bob", "zoe")] == [
        ("0", "1", "0"),
        ("1", "0", "0"),
        ("0", "0", "2"),
    ]
    failure = next(found["bob"].iter("failure"))
    assert failure.attrib["message"] == "Fails 7 of 60 cases. wrong"
    assert (failure.text or "").endswith("Sum, not mean.")


def nbgrader_rows(roll: Roll) -> list[list[str]]:
    return list(csv.reader(io.StringIO(nbgrader.render(roll), newline="")))


def test_columns_and_rows_are_those_of_nbgraders_export() -> None:
    assert nbgrader_rows(class_of(submission("ada"), submission("bob@uni.example", "wrong", "02_timer"))) == [
        ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
         "late_submission_penalty", "score", "max_score"],
        ["01_dot", "", "", "ada", "", "", "", "6.0", "0.0", "6.0", "10.0"],
        ["01_dot", "", "", "bob@uni.example", "", "", "bob@uni.example", "0.0", "0.0", "0.0", "10.0"],
        ["02_timer", "", "", "ada", "", "", "", "0.0", "0.0", "0.0", "10.0"],
        ["02_timer", "", "", "bob@uni.example", "", "", "bob@uni.example", "0.0", "0.0", "0.0", "10.0"],
    ]  # fmt: skip
    assert nbgrader_rows(with_a_fault(class_of(submission("ada"))))[1][7:] == ["", "", "", "10.0"]
    assert nbgrader_rows(class_of(submission("=cmd()")))[1][3] == "'=cmd()"
