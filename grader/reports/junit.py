"""The results of a class as JUnit XML, a format for test results, with one suite per student and one test per task.

A test passes if the answer is right, at any speed. A task without a grade because of an internal error is an error.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grader.course.roll import Roll
from grader.records import UNGRADED, Verdict
from grader.reports import grade_texts
from grader.texts import shown
from grader.trials.score import EARNS


def render(roll: Roll) -> str:
    """Return the results of a class as JUnit XML."""
    root = Element("testsuites", name=shown(roll.title))
    for student, alone in roll.one_by_one():
        suite = SubElement(root, "testsuite", name=shown(student))
        for report in alone.reports:
            for verdict in report.verdicts:
                test = _test(suite, report.submission.lesson, verdict.task)
                _fill(test, verdict, report.duration_s / len(report.verdicts))
        for hand_in in alone.waiting:
            for task in roll.only([hand_in.lesson]).tasks:
                SubElement(_test(suite, task.lesson, task.task), "skipped", message="not graded yet")
        _count(suite)
    _count(root)
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _test(suite: Element, lesson: str, task: str) -> Element:
    return SubElement(suite, "testcase", classname=shown(lesson), name=shown(task.removeprefix(f"{lesson}.")))


def _fill(test: Element, verdict: Verdict, duration_s: float) -> None:
    test.set("time", f"{duration_s:.3f}")
    properties, speed = SubElement(test, "properties"), verdict.attempt.speed
    measured = {"ratio": f"{speed.ratio:.6g}", "tier": str(speed.tier)} if speed else {}
    points, most = grade_texts.points(verdict.points), grade_texts.points(verdict.max_points)
    for name, value in {"points": points, "max_points": most, **measured}.items():
        SubElement(properties, "property", name=name, value=value)
    if verdict.status not in EARNS:
        text = shown(grade_texts.explanation(verdict))
        kind = "error" if verdict.status in UNGRADED else "failure"
        mark = SubElement(test, kind, type=verdict.status.value, message=text.partition("\n")[0])
        mark.text = text


def _count(suite: Element) -> None:
    suite.set("tests", str(len(list(suite.iter("testcase")))))
    for counted, name in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(counted, str(len(list(suite.iter(name)))))
    suite.set("time", f"{sum(float(test.get('time', 0)) for test in suite.iter('testcase')):.3f}")
