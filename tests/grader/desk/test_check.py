"""The output of `python -m grader check` for students: what is missing, wrong or slow, and what to do next."""

import json
import shutil
from pathlib import Path

import pytest
from commanding import CLASS, ROOT, CommandResult, grader

from grader import catalogue, overlays, paths
from grader.ways import ways_of
from lessons.engine import exercise_points
from lessons.engine.exercise_points import ExercisePoints

KNOWN = ROOT / "grader" / "tasks"
NOT_TAKEN = {
    "a lesson that does not exist": (
        "77_nonsense",
        "There is no exercise or task '77_nonsense'. There are: 01_correct_first",
    ),
    "a file that does not exist": ("nowhere/04_autorange.py", "There is no file"),
    "a folder": (str(CLASS), "is a folder. Name the exercise file in this folder"),
    "a folder named like an exercise": (str(CLASS / "lena" / "04_autorange.py"), "is a folder"),
    "a file that is neither Python nor a notebook": (str(ROOT / "LICENSE"), "is neither Python (.py) nor a notebook"),
    "a file without the name of an exercise": (
        str(ROOT / "harness" / "rendering" / "units.py"),
        "does not have the name of an exercise",
    ),
    "a file that is not UTF-8": (str(CLASS / "kofi" / "01_correct_first.py"), "is not UTF-8 text; save it as UTF-8"),
    "a notebook with magics": (str(CLASS / "ivan" / "01_correct_first.ipynb"), "only a notebook can run (%load_ext"),
}


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    """Return the variable that names a new state folder, in which no hint was read yet."""
    return {"FAIRCLOCK_STATE": str(tmp_path / "state")}


def handed(tmp_path: Path, source: Path, lesson: str) -> Path:
    """Copy a file to the name of an exercise, and return the copy's path."""
    path = tmp_path / f"{lesson}{source.suffix}"
    shutil.copy(source, path)
    return path


def of_truth_table(tmp_path: Path, lesson: str, task: str, name: str) -> Path:
    path = tmp_path / f"{lesson}.py"
    path.write_text(overlays.whole(KNOWN / f"lesson_{lesson}" / "known" / task / f"{name}.py"), encoding="utf-8")
    return path


def of_first_task(ended: CommandResult) -> list[str]:
    """Return the lines about the first of a file's tasks."""
    lines = ended.out.splitlines()
    headings = [number for number, line in enumerate(lines) if not line.startswith("  ")]
    return lines[: headings[1]]


def squeezed(line: str) -> str:
    return " ".join(line.split())


def test_the_untouched_stub_is_told_in_four_lines_what_is_missing() -> None:
    ended = grader("check", "04_autorange")
    heading, missing, where, hint = ended.out.splitlines()
    assert squeezed(heading) == "04_autorange · blocked_autorange 0 / 10 not written yet"
    assert missing.startswith("   blocked_autorange still raises NotImplementedError (line ")
    assert where.startswith("   Lesson 04, ")
    assert hint == "   First hint: python -m grader check 04_autorange --hint"
    assert ended.code == 1


def test_of_a_wrong_answer_the_smallest_failing_case_is_shown_and_explained(tmp_path: Path) -> None:
    ended = grader("check", of_truth_table(tmp_path, "01_correct_first", "batched_dot", "wrong_mean"))
    heading, case, *answers, explanation, hint = of_first_task(ended)
    assert squeezed(heading) == "01_correct_first · batched_dot 0 / 10 wrong"
    assert "cases. The smallest: a, b of shape (1, 3), float32" in case
    assert any("expected" in line for line in answers)
    assert any("got" in line for line in answers)
    assert any("allowed" in line for line in answers)
    assert explanation == "   A mean instead of a sum gives this wrong answer."
    assert hint == "   First hint: python -m grader check 01_correct_first --hint batched_dot"
    assert ended.code == 1


def test_a_wrong_answer_nobody_has_given_before_gets_no_explanation() -> None:
    ended = grader("check", CLASS / "dora" / "01_correct_first.py")
    _, case, answers, hint = of_first_task(ended)
    assert "cases. The smallest: a, b of shape (1, " in case
    assert "allowed" in answers
    assert hint.startswith("   First hint: ")


def test_a_slow_answer_is_told_its_ratio_the_next_tier_and_how_to_get_a_hint(tmp_path: Path) -> None:
    ended = grader("check", of_truth_table(tmp_path, "04_autorange", "blocked_autorange", "tier1_four_times"))
    heading, measured, hint = ended.out.splitlines()
    assert squeezed(heading).endswith(" 6 / 10 right, tier 1 of 3")
    assert "The baseline takes " in measured
    assert "× as much simulated time as the submission. Next tier: 2.2" in measured
    assert measured.endswith("8 points.")
    assert hint.startswith("   First hint: ")
    assert ended.code == 1


@pytest.mark.slow
def test_a_slow_tensor_answer_is_told_how_sure_its_ratio_is() -> None:
    ended = grader("check", CLASS / "ben" / "01_correct_first.py")
    heading, measured, hint = of_first_task(ended)
    assert squeezed(heading).endswith(" 4 / 10 right, tier 0 of 3")
    assert "rounds). Next tier: 1.50×" in measured
    assert hint.startswith("   First hint: ")


def test_full_marks_end_with_zero_and_the_idea_of_the_reference(tmp_path: Path) -> None:
    ended = grader("check", handed(tmp_path, paths.solution("04_autorange"), "04_autorange"))
    heading, measured, *after = ended.out.splitlines()
    assert squeezed(heading).endswith(" 10 / 10 right, tier 3 of 3")
    assert measured.endswith("That is the top tier.")
    (task,) = catalogue.load().tasks("04_autorange")
    ways = " ".join(ways_of(task).lines())
    assert squeezed(" ".join(after)) == (
        f"How the reference solution works: {task.idea} {ways} More to read: {task.references}"
    )
    assert "Other right ways" in ways
    assert ended.code == 0


def test_less_than_full_marks_keep_the_idea_to_themselves(tmp_path: Path) -> None:
    nearly = of_truth_table(tmp_path, "04_autorange", "blocked_autorange", "tier2_three_times")
    written = tmp_path / "verdicts.json"
    assert "How the reference solution works" not in grader("check", nearly, "--json", written).out
    assert json.loads(written.read_text(encoding="utf-8"))["tasks"][0]["idea"] == ""
    assert json.loads(written.read_text(encoding="utf-8"))["tasks"][0]["ways"] == []


def test_a_notebook_is_checked_like_a_file() -> None:
    assert grader("check", CLASS / "hana" / "04_autorange.ipynb").code == 0


def test_each_call_with_hint_gives_the_next_of_three_and_then_how_to_read_them_again(state: dict[str, str]) -> None:
    given = [grader("check", "04_autorange", "--hint", env=state).out.splitlines()[3:] for _ in range(4)]
    assert [lines[0].split(":")[0] for lines in given] == [f"   Hint {number} of 3" for number in (1, 2, 3, 3)]
    (task,) = catalogue.load().tasks("04_autorange")
    assert [lines[0].partition(": ")[2] for lines in given[:3]] == list(task.hints)
    again = "python -m grader check 04_autorange.blocked_autorange --hints"
    assert [len(lines) for lines in given] == [1, 1, 2, 2]
    assert given[2][1].endswith(again)
    assert given[3][1].endswith(again)


def test_hints_that_were_read_can_be_read_again_and_no_others(state: dict[str, str]) -> None:
    none = grader("check", "4", "--hints", env=state)
    assert "You have not read a hint for this task yet." in none.out
    for _ in range(2):
        grader("check", "4", "--hint", env=state)
    lines = grader("check", "4", "--hints", env=state).out.splitlines()
    assert [line.split(":")[0] for line in lines if "Hint " in line][-2:] == ["   Hint 1 of 3", "   Hint 2 of 3"]
    assert not any("Hint 3 of 3" in line for line in lines)


def test_after_the_last_hint_no_further_one_is_offered(state: dict[str, str]) -> None:
    offers = []
    for _ in range(4):
        offers.append(grader("check", "4", env=state).out.splitlines()[-1])
        grader("check", "4", "--hint", env=state)
    assert [offer.split(":")[0].strip() for offer in offers] == [
        "First hint",
        "Next hint",
        "Next hint",
        "You have read all hints. To read all hints again",
    ]


def test_with_two_unfinished_tasks_a_hint_needs_the_name_of_one(state: dict[str, str]) -> None:
    asked = grader("check", "2", "--hint", env=state)
    assert "Hint 1 of 3" not in asked.out
    assert "2 tasks are unfinished. To get a hint, run the hint command of one of these tasks." in asked.out
    for task in catalogue.load().tasks("02_timeit_vs_timer"):
        assert f"First hint: python -m grader check 02_timeit_vs_timer --hint {task.name}\n" in asked.out
        given = grader("check", "02_timeit_vs_timer", "--hint", task.name, env=state).out
        assert given.count("Hint 1 of 3: ") == 1
        assert task.hints[0] in " ".join(given.split())


@pytest.mark.parametrize(
    "given", [("2", "--hint", "repair"), ("--hint", "repair"), ("2", "rep", "--hint"), ("02.repair", "--hint")]
)
def test_a_task_can_be_named_for_a_hint_in_each_usual_way(given: tuple[str, ...], state: dict[str, str]) -> None:
    shown = grader("check", *given, env=state).out
    assert shown.count("Hint 1 of 3: ") == 1
    assert "time_per_call" not in shown


def test_one_unfinished_task_beside_a_finished_one_gets_its_hint(state: dict[str, str]) -> None:
    shown = grader("check", CLASS / "emil" / "02_timeit_vs_timer.py", "--hint", env=state).out
    assert shown.count("Hint 1 of 3: ") == 1


def test_the_points_of_a_whole_lesson_are_kept_for_the_list_of_lessons(state: dict[str, str], tmp_path: Path) -> None:
    grader("check", handed(tmp_path, paths.solution("04_autorange"), "04_autorange"), env=state)
    grader("check", "2", "repair", env=state)
    assert exercise_points.load(Path(state["FAIRCLOCK_STATE"])) == {"04_autorange": ExercisePoints(10, 10)}


@pytest.mark.parametrize("target", ["4", "04", "04_autorange", "autorange", "4.blocked"])
def test_a_number_means_its_lesson_with_and_without_a_zero(target: str) -> None:
    assert squeezed(grader("check", target).out.splitlines()[0]).startswith("04_autorange · blocked_autorange")


@pytest.mark.parametrize("target", ["0", "77", "4.nothing"])
def test_a_number_without_an_exercise_lists_those_that_exist(target: str) -> None:
    refused(grader("check", target), "There are: ")


@pytest.mark.parametrize("target", ["02.time_per_call", "2.time", "time_per_call", "02_timeit_vs_timer.time_per_call"])
def test_one_task_is_checked_alone(target: str) -> None:
    ended = grader("check", target)
    headings = [line for line in ended.out.splitlines() if not line.startswith("  ")]
    assert [squeezed(line) for line in headings] == ["02_timeit_vs_timer · time_per_call 0 / 10 not written yet"]
    assert ended.code == 1


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("2.nothing", "There is no task of 02_timeit_vs_timer 'nothing'. There are: time_per_call, repair."),
        ("time_per_cal1", "Did you mean 02_timeit_vs_timer.time_per_call"),
    ],
)
def test_a_task_that_is_not_there_is_told_what_is(target: str, says: str) -> None:
    ended = grader("check", target)
    assert says in ended.err + ended.out


def test_several_tasks_end_with_their_total_and_one_does_not() -> None:
    assert grader("check", CLASS / "emil" / "02_timeit_vs_timer.py").out.splitlines()[-1] == (
        " Total: 10 / 20 points in 2 tasks"
    )
    assert "Total" not in grader("check", "4").out


def test_what_a_submission_prints_is_shown_when_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "04_autorange.py"
    path.write_text("print('half way there')\ndef blocked_autorange(run, clock, min_run_time):\n    return 1 / 0\n")
    ended = grader("check", path)
    assert "blocked_autorange raised ZeroDivisionError: division by zero (line 3 of the file)." in ended.out
    assert "Your code printed:\n     half way there\n" in ended.out


def test_json_carries_every_verdict_and_the_environment(tmp_path: Path) -> None:
    written = tmp_path / "verdicts.json"
    ended = grader("check", CLASS / "emil" / "02_timeit_vs_timer.py", "--json", written)
    told = json.loads(written.read_text(encoding="utf-8"))
    first, second = told["tasks"]
    assert (first["task"], first["status"], first["points"]) == ("02_timeit_vs_timer.time_per_call", "raised", 0)
    assert (second["task"], second["status"], second["points"]) == ("02_timeit_vs_timer.repair", "passed", 10)
    assert "python" in told["environment"]
    assert ended.code == 1


def test_what_is_not_python_is_a_verdict_that_names_the_line() -> None:
    ended = grader("check", CLASS / "fatima" / "04_autorange.py")
    assert "The file is not Python: expected ':' (line 6 of the file)." in ended.out
    assert ended.code == 1


def test_an_empty_file_is_told_which_function_is_missing() -> None:
    ended = grader("check", CLASS / "george" / "01_correct_first.py")
    _, missing, advice, _ = of_first_task(ended)
    assert missing == "   The file has no function batched_dot."
    assert advice.startswith("   Write it under this name")
    assert ended.code == 1


def test_a_notebook_that_is_not_json_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "04_autorange.ipynb"
    path.write_text("def blocked_autorange(run, clock, min_run_time): ...\n")
    refused(grader("check", path), "is not a notebook (it is not JSON); save it in Jupyter")


@pytest.mark.parametrize(("target", "says"), NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_what_cannot_be_checked_is_refused_in_one_sentence(target: str, says: str) -> None:
    refused(grader("check", target), says)


def test_a_place_where_json_cannot_be_written_is_named(tmp_path: Path) -> None:
    ended = grader("check", CLASS / "fatima" / "04_autorange.py", "--json", tmp_path / "nowhere" / "verdicts.json")
    assert ended.code == 2
    assert "verdicts.json could not be written" in ended.err


def refused(ended: CommandResult, says: str) -> None:
    """Assert that the command printed only one sentence, on standard error, and ended with exit code 2."""
    assert ended.code == 2
    assert ended.out == ""
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1
