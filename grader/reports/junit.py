"""The results of a class as JUnit XML, a format for test results, with one suite per student and one test per task.

A test passes if the answer is right, at any speed. The points are properties of the test. A task that was not graded
because of an internal error is an error. A task that is not graded yet is skipped.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grader.course.roll import HandIn, Roll
from grader.records import UNGRADED, Report, Verdict
from grader.reports import grade_texts
from grader.trials.score import EARNS

_SHOWN = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_SHOWN |= dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)
"""Replacements, U+2400 and following or U+FFFD, for characters that XML 1.0 forbids or that control a terminal."""


def render(roll: Roll) -> str:
    """Return the results of a class as JUnit XML."""
    root = Element("testsuites", name=_plain(roll.title))
    for student in roll.students:
        suite = SubElement(root, "testsuite", name=_plain(student))
        for report in roll.reports:
            if report.submission.student == student:
                _add(suite, report)
        for hand_in in roll.waiting:
            if hand_in.student == student:
                _wait(suite, roll, hand_in)
        _count(suite)
    _count(root)
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add(suite: Element, report: Report) -> None:
    for verdict in report.verdicts:
        test = _test(suite, report.submission.lesson, verdict.task)
        test.set("time", f"{report.duration_s / len(report.verdicts):.3f}")
        properties = SubElement(test, "properties")
        for name, value in _measured(verdict):
            SubElement(properties, "property", name=name, value=value)
        if verdict.status not in EARNS:
            is_internal = verdict.status in UNGRADED
            text = grade_texts.explanation(verdict)
            mark = SubElement(test, "error" if is_internal else "failure", type=verdict.status.value)
            mark.set("message", _plain(text.splitlines()[0]))
            mark.text = _plain(text)


def _measured(verdict: Verdict) -> list[tuple[str, str]]:
    speed = verdict.attempt.speed
    measured = [("ratio", f"{speed.ratio:.6g}"), ("tier", str(speed.tier))] if speed else []
    return [
        ("points", grade_texts.points(verdict.points)),
        ("max_points", grade_texts.points(verdict.max_points)),
        *measured,
    ]


def _wait(suite: Element, roll: Roll, hand_in: HandIn) -> None:
    for task in roll.tasks:
        if task.lesson == hand_in.lesson:
            SubElement(_test(suite, task.lesson, task.task), "skipped", message="not graded yet")


def _test(suite: Element, lesson: str, task: str) -> Element:
    return SubElement(suite, "testcase", classname=_plain(lesson), name=_plain(task.removeprefix(f"{lesson}.")))


def _count(suite: Element) -> None:
    suite.set("tests", str(len(list(suite.iter("testcase")))))
    for counted, name in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(counted, str(len(list(suite.iter(name)))))
    suite.set("time", f"{sum(float(test.get('time', 0)) for test in suite.iter('testcase')):.3f}")


def _plain(text: str) -> str:
    return text.translate(_SHOWN)
