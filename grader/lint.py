"""`lint`: an exercise proves that it is fair by grading its own truth table.

Every known submission of every task is really graded, those of simulated worlds in this process: the stub earns nothing
and says what to do, the baseline is right and reaches no tier, each `tier<k>_*` reaches exactly tier k, each `wrong_*`
is wrong and is explained by its own docstring, and the solution has full marks with a gain of at least twice what they
take. No right one lies near a tier,
where another machine would give it another grade. Three hints lead to the solution, and its idea is shown afterwards.
Nothing in the student's kit earns a tier as a hand-in (`lifting`), and no answer is right without a look (`blind`).
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import blind, catalogue, lifting, tier_margins, tier_records
from grader.grade import grade_task, seed_of
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.records import Status, Submission, Verdict
from grader.settings import Settings
from grader.stubs import stub_of
from grader.task import MeteredExam, Task
from grader.trials import metered
from grader.trials.known import docstring
from grader.trials.score import EARNS, score
from harness import units

FEWEST_WRONG: Final = 2

FEWEST_WORDS: Final = 15
"""An idea in fewer words says what was done, and not why."""

PLANNED: Final = 0.02
"""How far a simulated baseline may be off the cost that its worlds plan for it, as a log ratio."""

NAMES: Final = re.compile(r"baseline(_\w+)?|tier(?P<tier>\d)_\w+|wrong_\w+")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a truth table: a known submission, its verdict, and what is surprising about that ("" if nothing)."""

    task: Task
    name: str
    path: Path
    verdict: Verdict
    surprise: str

    @property
    def line(self) -> str:
        """The row as `lint` prints it."""
        speed, verdict = self.verdict.attempt.speed, self.verdict
        measured = f"{speed.ratio:6.2f}×  tier {speed.tier}" if speed else ""
        if self.distance is not None:
            measured += f"  {units.percent(self.distance)} from a tier"
        told = f"{self.task.full_name:36} {self.name:32} {verdict.points:5g}  {verdict.status:16} {measured}"
        return f"{'✗' if self.surprise else '✓'} {told}"

    @property
    def distance(self) -> float | None:
        """How far its ratio is from the nearest tier (`tier_margins.distance`); None for what no tier measures."""
        speed = self.verdict.attempt.speed
        return tier_margins.distance(speed.ratio, self.task.tiers) if speed and self.task.tiers else None

    @property
    def recorded(self) -> tier_records.Row | None:
        """The row to keep as evidence; None for what no tier measures, or what is the same on every machine."""
        speed = self.verdict.attempt.speed
        if self.distance is None or speed is None or self.task.simulated:
            return None
        ratio, low, high = (float(f"{each:.4g}") for each in (speed.ratio, speed.low, speed.high))
        name = tier_records.row_name(self.name)
        measured = tier_records.measured(self.task, self.path)
        return tier_records.Row(self.task.full_name, name, ratio, low, high, measured)


def problems(lesson: str) -> Iterator[str]:
    """Yield what is wrong with a lesson's exercise before anything is graded, each with where it is."""
    yield from (f"{lesson}: {problem}" for problem in stray(lesson))
    for task in catalogue.load().tasks(lesson):
        yield from (f"{task.full_name}: {problem}" for problem in surprises(task))


def unearned(lesson: str) -> Iterator[str]:
    """Yield what earns points in a lesson's tasks without solving them: what lies in the kit, and blind answers."""
    yield from lifting.leaks(lesson)
    for task in catalogue.load().tasks(lesson):
        yield from (f"{task.full_name}: {sentence}" for sentence in blind.sighted(task))


def surprises(task: Task) -> Iterator[str]:
    """What is wrong with a task before anything is graded."""
    if not all(hint.strip() for hint in task.hints):
        yield "a hint is empty"
    if len(task.idea.split()) < FEWEST_WORDS:
        yield "its idea, shown after full marks, is missing or no sentence"
    if not task.read_on.strip():
        yield "it does not say where to read on"
    ratios = [tier.ratio for tier in task.tiers]
    if task.tiers and (ratios != sorted(set(ratios)) or task.tiers[-1].share != 1):
        yield "its tiers do not ascend to all of the points"
    if len(task.wrong_answers) < FEWEST_WRONG:
        yield f"it knows fewer than {FEWEST_WRONG} wrong answers"
    for path in sorted(task.known.iterdir()):
        if path.name != "__pycache__" and (path.suffix != ".py" or not NAMES.fullmatch(path.stem)):
            yield f"{path.name} is no known submission: name it baseline.py, tier<k>_….py or wrong_….py"
    named = [NAMES.fullmatch(path.stem) for path in task.known.glob("*.py")]
    tiers = {match["tier"] for match in named if match}
    for number in range(1, len(task.tiers) + 1):
        if str(number) not in tiers:
            yield f"no known submission reaches tier {number}"
    yield from (f"{path.name} has no explanation" for path in task.wrong_answers if not docstring(path))


def stray(lesson: str) -> Iterator[str]:
    """What does not fit around a lesson's exercise: a stub unlike its solution, a folder of no task."""
    tasks = catalogue.load().tasks(lesson)
    source = catalogue.solution(lesson).read_text(encoding="utf-8")
    if not catalogue.stub(lesson).is_file() or catalogue.stub(lesson).read_text(encoding="utf-8") != stub_of(source):
        yield "the stub is not what its solution gives: run python -m grader.stubs"
    for folder in (tasks[0].folder / "known").iterdir():
        if folder.name not in {task.name for task in tasks}:
            yield f"known/{folder.name} belongs to no task"


def _silent(_: str) -> None:
    """Say nothing of what is graded now."""


def table(lesson: str, seed: str, pool: Pool, tell: Callable[[str], None] = _silent) -> Iterator[Row]:
    """Grade the truth tables of a lesson's tasks; `tell` is told what is graded now.

    All rows share one process tree, as a hand-in's tasks do: known submissions are the kit's own. What is timed or
    measured is forked anew for each all the same.
    """
    tasks = catalogue.load().tasks(lesson)
    with pool.one_hand_in(tensors=any(task.needs_torch for task in tasks)) as trees:
        for task in tasks:
            yield from rows(task, Settings(seed, trees), tell)


def rows(task: Task, settings: Settings, tell: Callable[[str], None] = _silent) -> Iterator[Row]:
    """Grade the truth table of a task, one row after the other."""
    files = [catalogue.stub(task.lesson), *sorted(task.known.glob("*.py")), catalogue.solution(task.lesson)]
    same = digest(task.baseline.encode())  # to all of them, so that they are graded on the same inputs
    for path in files:
        name = {files[0]: "stub", files[-1]: "solution"}.get(path, path.stem)
        tell(f"{task.full_name}, {name} ({files.index(path) + 1} of {len(files)})")
        submission = Submission("lint", task.lesson, path.name, same, path.read_text(encoding="utf-8"))
        verdict = _known(task, submission, settings) if path in files[1:-1] else grade_task(task, submission, settings)
        yield Row(task, name, path, verdict, _surprise(task, name, path, verdict) or _near(task, verdict))


def _known(task: Task, submission: Submission, settings: Settings) -> Verdict:
    """Grade a known submission: in simulated worlds it is played in this process, which takes a tenth of the time."""
    if isinstance(task.exam, MeteredExam) and submission.source is not None:
        seed = seed_of(task, submission, settings)
        with suppress(Exception):  # one that raises is graded in a worker, as any other
            return score(task, metered.examine_known(task, task.exam, submission.source, settings, seed))
    return grade_task(task, submission, settings)


def _surprise(task: Task, name: str, path: Path, verdict: Verdict) -> str:
    attempt = verdict.attempt
    tier = attempt.speed.tier if attempt.speed else None
    if verdict.status is Status.GRADER_ERROR:
        return attempt.rationale
    if name == "stub":
        return "" if verdict.points == 0 and attempt.rationale else "the stub earns points or says nothing"
    if name.startswith("wrong_"):
        if verdict.status is not Status.WRONG:
            return f"expected wrong, got {verdict.status}"
        return "" if attempt.help == docstring(path) else f"explained as {attempt.help!r}"
    if verdict.status not in EARNS:
        return f"expected right, got {verdict.status}: {attempt.rationale}"
    if name == "solution":
        return _solution(task, verdict)
    match = NAMES.fullmatch(name)
    expected = int(match["tier"]) if match and match["tier"] else 0
    speed = attempt.speed
    if name == "baseline" and task.simulated and task.tiers and speed and abs(math.log(speed.ratio)) > PLANNED:
        return f"it spends 1 / {speed.ratio:.3f} of what its worlds plan for it: mend their plain_cost"
    return "" if tier == expected else f"expected tier {expected}, got {tier}"


def _near(task: Task, verdict: Verdict) -> str:
    """Say that a ratio lies too near a tier; "" where it does not."""
    speed = verdict.attempt.speed
    if speed is None or tier_margins.distance(speed.ratio, task.tiers) >= tier_margins.LEAST:
        return ""
    near = min(task.tiers, key=lambda tier: tier_margins.distance(speed.ratio, (tier,)))
    away = units.percent(tier_margins.distance(speed.ratio, (near,)))
    least = units.percent(tier_margins.LEAST)
    where = f"{units.ratio(speed.ratio)} is {away} from the tier at {units.ratio(near.ratio)}"
    return f"{where}; another machine may differ by {least}"


def _solution(task: Task, verdict: Verdict) -> str:
    if verdict.points < verdict.max_points:
        return f"the solution earns {verdict.points:g} of {verdict.max_points:g}"
    speed = verdict.attempt.speed
    if task.tiers and speed and speed.high < task.least_gain * task.tiers[-1].ratio:  # clearly so, not by luck
        part = "half" if task.least_gain == 2 else f"1 / {task.least_gain:g}"
        gains = f"the solution gains {speed.ratio:.2f}×, at most {speed.high:.2f}×"
        return f"{gains}, and full marks take {task.tiers[-1].ratio:g}×: more than {part} of it"
    return ""
