"""The results of a class as JUnit XML, a format for test results, with one suite per student and one test per task.

A test passes if the answer is right, at any speed. A task without a grade because of an internal error is an error.
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grader.course.by_hand import HandEntry
from grader.course.roll import Roll
from grader.records import UNGRADED, Verdict
from grader.reports import grade_texts
from grader.trials.score import EARNS
from harness.rendering.texts import shown


def render(roll: Roll) -> str:
    """Return the results of a class as JUnit XML."""
    root = Element("testsuites", name=shown(roll.title))
    for student, alone in roll.one_by_one():
        suite = SubElement(root, "testsuite", name=shown(student))
        marks = alone.marks(student)
        for report in alone.reports:
            for verdict in report.verdicts:
                test = _test(suite, report.submission.lesson, verdict.task)
                given = _given(alone, marks.pop(verdict.task, None))
                _fill(test, verdict, report.duration_s / len(report.verdicts), given)
        for task in (task for task in alone.tasks if task.task in marks):
            given = {"max_points": grade_texts.points(task.points), **_given(alone, marks[task.task])}
            _add_properties(_test(suite, task.lesson, task.task), given)
        missed = dict.fromkeys(alone.missing().get(student, ()), grade_texts.NO_ATTEMPT)
        for lesson, why in {**missed, **{hand_in.lesson: "not graded yet" for hand_in in alone.waiting}}.items():
            for task in roll.only([lesson]).tasks:
                SubElement(_test(suite, task.lesson, task.task), "skipped", message=why)
        _count(suite)
    _count(root)
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _test(suite: Element, lesson: str, task: str) -> Element:
    return SubElement(suite, "testcase", classname=shown(lesson), name=shown(task.removeprefix(f"{lesson}.")))


def _given(roll: Roll, entry: HandEntry | None) -> dict[str, str]:
    if entry is None:
        return {}
    told = shown(grade_texts.hand_entry(roll, entry), lines=False)
    return {"points": grade_texts.points(entry.points or 0.0), "points_by_hand": told}


def _add_properties(test: Element, values: Mapping[str, str]) -> None:
    properties = SubElement(test, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=value)


def _fill(test: Element, verdict: Verdict, duration_s: float, by_hand: Mapping[str, str]) -> None:
    test.set("time", f"{duration_s:.3f}")
    speed = verdict.attempt.speed
    measured = {"ratio": f"{speed.ratio:.6g}", "tier": str(speed.tier)} if speed else {}
    points, most = grade_texts.points(verdict.points), grade_texts.points(verdict.max_points)
    _add_properties(test, {"points": points, "max_points": most, **measured, **by_hand})
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
