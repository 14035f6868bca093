"""`lint` reports every unfair change of an exercise as a surprise, and `calibrate` every tier that noise hides.

Every lesson is linted in this process with fewer measurements than usual, because known submissions are far from each
tier. If a verdict is a surprise, the lesson is linted again with all measurements, and the second verdict counts.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from commanding import ROOT, CommandResult, command, tree
from needs import needs
from small_tasks import negation, search

from grader import catalogue
from grader.authoring import lint
from grader.authoring.calibrate import Calibration
from grader.authoring.giveaways import giveaways
from grader.authoring.lint import _near
from grader.authoring.task_texts import docstring
from grader.commands.apps import run_grader
from grader.kinds.timing import TIME
from grader.records import Attempt, Speed, Status, Verdict
from grader.task import SimulatedExam, Tier
from grader.trials import speed
from harness.paired.decide import Rules

LESSON = "04_autorange"
TASK = f"grader/tasks/lesson_{LESSON}/blocked_autorange.py"
KNOWN = f"grader/tasks/lesson_{LESSON}/known/blocked_autorange"
NEEDED = ("baseline.py", "tier1_four_times.py", "tier2_three_times.py", "tier3_one_rehearsal.py")
WRONG = ("wrong_mean.py", "wrong_one_run_a_sample.py")


QUICK = Rules(min_pairs=1, max_pairs=1, slice_s=0.025, cap_s=2.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "lesson",
    [pytest.param(lesson, marks=needs(*catalogue.load().tasks(lesson))) for lesson in catalogue.load().lessons],
)
def test_the_truth_table_of_every_lesson_holds(lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    # How far a measured ratio lies from a tier says something only on an idle machine, where an author runs `lint`.
    with mock.patch.object(lint, "_near", lambda task, verdict: _near(task, verdict) if task.simulated else ""):
        with mock.patch.object(speed, "RULES", QUICK):
            ended = lint_here(lesson, capsys)
        if ended.code:  # on a busy machine, a single pair of processes may be an outlier; the real rules compare five
            ended = lint_here(lesson, capsys)
    assert ended.code == 0, ended.out
    assert ended.out.splitlines()[-1] == "Every known submission got the expected verdict."
    marked = [line.split()[1:3] for line in ended.out.splitlines()[:-1] if line.startswith("✓")]
    assert marked == [
        [task.full_name, name]
        for task in catalogue.load().tasks(lesson)
        for name in ("stub", *sorted(path.stem for path in task.known.glob("*.py")), "solution")
    ]


def lint_here(lesson: str, capsys: pytest.CaptureFixture[str]) -> CommandResult:
    """Run `python -m grader lint LESSON` in this process, where a test can change the number of measurements."""
    code = run_grader(["lint", lesson])
    out, err = capsys.readouterr()
    return CommandResult(code, out, err)


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """Return a copy of the kit with lesson 04 only, and with only the known submissions that it must have."""
    tidy = shutil.ignore_patterns("0[!4]_*", "[1-9]?_*", "lesson_0[!4]_*", "lesson_[1-9]?_*")
    for package in ("grader", "harness", "lessons", "solutions"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=tidy)
    for path in (tmp_path / KNOWN).glob("*.py"):
        if path.name not in NEEDED + WRONG:
            path.unlink()
    return tmp_path


def in_kit(kit: Path, *arguments: str) -> CommandResult:
    """Run `python -m grader` with the code of a kit."""
    environment = {**os.environ, "PYTHONPATH": str(kit)}
    done = subprocess.run(
        command(*arguments), cwd=kit, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


def changed(path: Path, pattern: str, replacement: str) -> None:
    text, times = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), count=1, flags=re.DOTALL)
    assert times == 1
    path.write_text(text, encoding="utf-8")


@pytest.mark.long
def test_whatever_is_made_unfair_in_a_truth_table_is_a_surprise(kit: Path) -> None:
    known = kit / KNOWN
    recorded = docstring(known / "wrong_mean.py")
    changed(kit / TASK, r"hints=\(\s*\(.*?\),\n", 'hints=(" ",\n')
    changed(kit / TASK, r"idea=\(.*?\),\n", 'idea="Be quick.",\n')
    changed(kit / TASK, r'references="', 'references="" and "')
    changed(kit / TASK, r"Tier\(3\.0, ", "Tier(2.7, ")
    (known / "notes.txt").write_text("what I meant to do")
    (known / "tier1_four_times.py").rename(known / "tier2_four_times.py")
    changed(known / "wrong_mean.py", r'""".*?"""', '"""This is a median."""')
    shutil.copy(kit / "solutions" / f"{LESSON}.py", known / "wrong_but_right.py")
    changed(kit / "lessons" / "exercises" / f"{LESSON}.py", "Exercise of lesson 04", "Exercise of lesson 40")
    (known.parent / "another_task").mkdir()

    ended = in_kit(kit, "lint")
    told = [line.removeprefix("SURPRISE  ") for line in ended.out.splitlines() if line.startswith("SURPRISE")]

    assert ended.code == 1
    assert ended.out.splitlines()[-1] == f"{len(told)} problems, listed above as SURPRISE."
    task = f"{LESSON}.blocked_autorange"
    (near,) = [sentence for sentence in told if "from the tier at" in sentence]
    assert re.match(rf"{task}, tier2_three_times: 2\.[56]\d× is [3-9]\.?\d* % from the tier at 2\.70×", near)
    assert told == [
        f"{LESSON}: the stub differs from the stub made from the solution: run `python -m grader stubs`",
        f"{LESSON}: known/another_task belongs to no task",
        f"{task}: a hint is empty",
        f"{task}: its idea, shown after full marks, is missing or has fewer than 15 words",
        f"{task}: its texts in ways.json differ from the known submissions: run `python -m grader stubs`",
        f"{task}: it names no further reading: fill in references",
        f"{task}: notes.txt is not the name of a known submission: use baseline.py, tier<k>_….py or wrong_….py",
        f"{task}: no known submission reaches tier 1",
        f"{task}: its explanations differ from those in mistakes.json: run `python -m grader stubs`",
        f"{task}, tier2_four_times: expected tier 2, got 1",
        near,
        f"{task}, wrong_but_right: expected wrong, got passed",
        f"{task}, wrong_mean: expected its docstring as explanation, got {recorded!r}",
    ]


def test_a_time_needs_20_percent_of_distance_a_count_10_and_forgiven_scenarios_what_guesses_gain() -> None:
    timed, counted = negation(Path()), search(Path())
    assert isinstance(counted.exam, SimulatedExam)
    forgiving = replace(counted, exam=replace(counted.exam, forgiven=1))  # of three, so guesses gain 26 %
    for task, least in ((timed, 0.20), (counted, 0.10), (forgiving, 0.26)):
        for away, is_near in ((least - 0.01, True), (least + 0.01, False)):
            speed = Speed(ratio := task.tiers[-1].ratio * (1 + away), ratio, ratio, 5, 2)
            verdict = Verdict(task.full_name, 10, 10, task.cost, Attempt(Status.PASSED, speed=speed))
            assert bool(_near(task, verdict)) is is_near


CLOCKS = Random(1)
REPAIR = next(task for task in catalogue.load().tasks("02_timeit_vs_timer") if task.name == "repair")


def in_order(scenarios: list[Any]) -> list[Any]:
    return sorted(scenarios, key=lambda one: one.per_call_s)


def begins_to_count(at: Callable[[float], float], step: Callable[[float], float]) -> Callable[[list[Any]], list[Any]]:
    """Return a change of scenarios: their clocks begin at a time, and have a step, that follow from the answer."""

    def changed(scenarios: list[Any]) -> list[Any]:
        for one in scenarios:
            step_s = step(one.per_call_s)
            one.machine = replace(one.machine, origin_s=at(one.per_call_s), tick_s=step_s, reading_s=step_s)
        return scenarios

    return changed


@pytest.mark.parametrize(
    ("given_away", "views"),
    [
        (list, []),
        (in_order, ["before the first call", "after its first call"]),
        (begins_to_count(lambda answer_s: 1e7 * answer_s, lambda _: 1e-6), ["after its first call", "after two calls"]),
        (
            begins_to_count(lambda _: CLOCKS.uniform(10, 1000), lambda answer_s: answer_s / 10),
            ["after two calls"],
        ),
    ],
)
def test_a_scenario_with_its_answer_is_found(given_away: Callable[[list[Any]], list[Any]], views: list[str]) -> None:
    assert isinstance(REPAIR.exam, SimulatedExam)
    draw = REPAIR.exam.scenarios
    exam = replace(REPAIR.exam, scenarios=lambda rng: given_away([*draw(rng)]))
    found = list(giveaways(replace(REPAIR, exam=exam), 300))
    assert [re.findall(r"sees (.*?) gives the right answer", one) for one in found] == [[view] for view in views]


def calibrated(ratio: float, error: float, *tiers: float, least_gain: float = 2.0) -> Calibration:
    """Return the result for a solution with this ratio, measured with this relative error."""
    task = replace(negation(Path()), tiers=tuple(Tier(tier, 1.0) for tier in tiers), least_gain=least_gain)
    speed = Speed(ratio, ratio * 0.99, ratio * 1.01, rounds=50, tier=1)
    return Calibration(task, Verdict("small.negate", 10, 10, TIME, Attempt(Status.PASSED, speed=speed)), error)


def test_each_problem_of_a_tier_is_one_sentence() -> None:
    same = "tiers 1 and 2, 2× and 2.20×, cannot be distinguished: this machine measures a ratio to within 6 %"
    by_design = calibrated(8.0, 0.02, 2.0, 7.0, least_gain=1.1)
    for one, problem in (
        (calibrated(9.0, 0.02, 2.0, 4.0), ""),
        (calibrated(6.4, 0.02, 2.0, 7.0), "tier 2, 7×, is out of reach: the solution reaches 6.40× (6.34 to 6.46)"),
        (
            calibrated(8.0, 0.02, 2.0, 7.0),
            "tier 2, 7×, is hard to reach: the solution reaches only 8× (7.92 to 8.08)",
        ),
        (calibrated(9.0, 0.06, 2.0, 2.2), same),
        (by_design, ""),
    ):
        assert one.problems == ((problem,) if problem else ())
    raised = Verdict("small.negate", 0, 10, TIME, Attempt(Status.RAISED, rationale="no such operator"))
    assert replace(by_design, verdict=raised).problems == ("the solution is not right here: no such operator",)


README = (ROOT / "grader" / "tasks" / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`(\S+\.(?:py|toml))`\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^python -m grader (stubs|lint 90_row_norms.*)$", re.MULTILINE)
MOST_FILES = 15
"""The largest number of files that a new exercise with one task adds or changes, its known answers included."""


@pytest.mark.long
@pytest.mark.sandbox
def test_the_exercise_on_the_authors_page_is_fair_until_a_known_answer_is_wrong(kit: Path) -> None:
    before = tree(kit)
    for path, text in FILE.findall(README):
        (kit / path).parent.mkdir(parents=True, exist_ok=True)
        with (kit / path).open("a", encoding="utf-8") as file:  # the list of lessons exists already
            file.write(text)
    (kit / "grader/tasks/lesson_90_row_norms/__init__.py").touch()
    stubs, lint = (each.split() for each in COMMAND.findall(README))
    for arguments in (stubs, lint):
        ended = in_kit(kit, *arguments)
        assert ended.code == 0, ended.out + ended.err
    assert len(re.findall(r"✓ 90_row_norms\.row_norms", ended.out)) == 7
    changed = {path for path, content in tree(kit).items() if before.get(path) != content and "__pycache__" not in path}
    assert len(changed) <= MOST_FILES, changed
    assert '"reference": null' not in (kit / "grader/tasks/ways.json").read_text(encoding="utf-8").splitlines()[-2]

    known = kit / "grader/tasks/lesson_90_row_norms/known/row_norms"
    shutil.copy(known / "wrong_largest.py", known / "tier2_at_once.py")
    ended = in_kit(kit, *lint)
    assert ended.code == 1
    assert "SURPRISE  90_row_norms.row_norms, tier2_at_once: expected right, got wrong" in ended.out
