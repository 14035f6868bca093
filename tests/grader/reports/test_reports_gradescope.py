import json
from dataclasses import replace

from classroom import CALL, KIT, REPAIR, TASKS, grade

from grader.course.roll import HandIn, Roll
from grader.records import Attempt, Speed, Status, Submission
from grader.reports import gradescope


def submission(text: str | None, student: str = "ada", lesson: str = "01_dot", refusal: str = "") -> Submission:
    return Submission(student, lesson, f"{student}/{lesson}.py", "00ff", text, refusal)


def roll(*submissions: Submission, waiting: tuple[HandIn, ...] = ()) -> Roll:
    students = tuple(sorted({one.student for one in submissions} | {one.student for one in waiting}))
    return Roll("hw1", KIT, students, TASKS, tuple(grade(one) for one in submissions), waiting, ())


def test_a_result_has_gradescopes_shape_and_our_evidence() -> None:
    result = json.loads(gradescope.render(roll(submission("right")), "ada"))
    assert set(result) == {
        *("score", "execution_time", "output", "output_format", "visibility", "stdout_visibility"),
        *("tests", "leaderboard", "extra_data"),
    }
    assert (result["score"], result["execution_time"], result["stdout_visibility"]) == (6.0, 0.25, "hidden")
    assert result["tests"] == [
        {
            "name": "01_dot.batched",
            "score": 6.0,
            "max_score": 10.0,
            "status": "passed",
            "output": "Right on all 60 cases.",
            "output_format": "text",
            "visibility": "visible",
            "extra_data": {
                "status": "PASSED",
                "cost": "TIME",
                "ratio": 3.0,
                "low": 2.9,
                "high": 3.1,
                "rounds": 2,
                "tier": 1,
            },
        }
    ]
    assert result["leaderboard"] == [{"name": "01_dot.batched", "value": 3.0, "order": "desc"}]


def test_tests_of_all_lessons_come_in_order() -> None:
    both = roll(submission("right"), submission("wrong", lesson="02_timer"), submission("wrong", "bob"))
    assert "bob" not in gradescope.render(both, "ada")
    result = json.loads(gradescope.render(both, "ada"))
    assert [(test["name"], test["status"]) for test in result["tests"]] == [
        ("01_dot.batched", "passed"),
        (CALL, "failed"),
        (REPAIR, "failed"),
    ]
    assert result["tests"][1]["output"] == "Fails 7 of 60 cases. wrong\nSum, not mean."


def test_a_fault_of_ours_a_missing_sandbox_and_a_wait_are_said() -> None:
    waiting = (HandIn("ada", "02_timer", "ada/02_timer.py", "00"),)
    class_ = roll(submission("right"), waiting=waiting)
    report = class_.reports[0]
    broken = replace(report.verdicts[0], points=0.0, attempt=Attempt(Status.GRADER_ERROR))
    faulted = replace(class_, reports=(replace(report, verdicts=(broken,), sandboxed=False),))
    output = json.loads(gradescope.render(faulted, "ada"))["output"]
    assert "not your fault" in output
    assert "Graded without a sandbox: 01_dot" in output
    assert "a layer" not in output
    assert "02_timer: not graded yet. The score is not final." in output


def test_a_student_without_a_hand_in_gets_a_file_that_says_so() -> None:
    empty = replace(roll(submission("right")), students=("ada", "zoe"))
    result = json.loads(gradescope.render(empty, "zoe"))
    assert (result["score"], result["tests"], result["output"]) == (0, [], "Nothing was handed in.")
    result = json.loads(gradescope.render(roll(submission(None, refusal="The zip is damaged.")), "ada"))
    assert "01_dot: The zip is damaged." in result["output"]


def test_an_impossible_time_is_on_no_leaderboard() -> None:
    result = json.loads(gradescope.render(roll(submission("beyond")), "ada"))
    assert result["leaderboard"] == []
    assert (result["tests"][0]["score"], result["tests"][0]["extra_data"]["status"]) == (4, "IMPOSSIBLE")


def test_a_ratio_that_is_no_number_is_null_and_the_file_stays_json() -> None:
    class_ = roll(submission("right"))
    report = class_.reports[0]
    endless = replace(report.verdicts[0].attempt, speed=Speed(float("inf"), 1.0, float("nan"), 3, 2))
    class_ = replace(class_, reports=(replace(report, verdicts=(replace(report.verdicts[0], attempt=endless),)),))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    result = json.loads(gradescope.render(class_, "ada"), parse_constant=refuse)
    assert result["tests"][0]["extra_data"]["ratio"] is None
