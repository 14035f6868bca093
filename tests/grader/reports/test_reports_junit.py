from xml.etree import ElementTree as ET

from exported import class_of, submission, with_a_fault

from grader.course.roll import HandIn, Roll
from grader.reports import junit


def suites(roll: Roll) -> dict[str, ET.Element]:
    text = junit.render(roll)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    return {suite.attrib["name"]: suite for suite in ET.fromstring(text.encode())}  # noqa: S314 - written by the kit


def test_every_student_is_a_suite_and_every_task_a_test() -> None:
    found = suites(class_of(submission("ada"), submission("bob", "wrong", "02_timer")))
    assert {name: suite.attrib["tests"] for name, suite in found.items()} == {"ada": "1", "bob": "2"}
    assert [(test.attrib["classname"], test.attrib["name"]) for test in found["bob"].iter("testcase")] == [
        ("02_timer", "02_timer.per_call".removeprefix("02_timer.")),
        ("02_timer", "repair"),
    ]
    assert found["ada"].attrib["failures"] == "0"


def test_points_and_ratio_are_properties() -> None:
    test = suites(class_of(submission("ada")))["ada"][0]
    assert {one.attrib["name"]: one.attrib["value"] for one in test.iter("property")} == {
        "points": "6",
        "max_points": "10",
        "ratio": "3",
        "tier": "1",
    }


def test_a_wrong_answer_is_a_failure_a_fault_of_ours_an_error_and_a_wait_is_skipped() -> None:
    waiting = (HandIn("zoe", "02_timer", "zoe/02_timer.py", "00"),)
    found = suites(with_a_fault(class_of(submission("ada"), submission("bob", "wrong"), waiting=waiting)))
    counted = ("failures", "errors", "skipped")
    assert [tuple(found[name].attrib[one] for one in counted) for name in ("ada", "bob", "zoe")] == [
        ("0", "1", "0"),
        ("1", "0", "0"),
        ("0", "0", "2"),
    ]
    failure = next(found["bob"].iter("failure"))
    assert failure.attrib["message"] == "Fails 7 of 60 cases. wrong"
    assert (failure.text or "").endswith("Sum, not mean.")


def test_whatever_a_submission_printed_the_file_stays_xml() -> None:
    odd = "wrong ]]> <b>&amp; \x00\x1b[2J\x7f\x9b \udcff \ufffe"
    failure = next(suites(class_of(submission("<ada>\x07", odd)))["<ada>\u2407"].iter("failure"))
    assert (
        failure.attrib["message"] == "Fails 7 of 60 cases. wrong ]]> <b>&amp; \u2400\u241b[2J\u2421\ufffd \ufffd \ufffd"
    )
