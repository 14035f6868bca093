"""Check that an exercise is graded as its author intended.

The author writes known submissions, right and wrong ones. The name of each file states the expected grade: `tier2_*` is
right and reaches exactly tier 2 (a ratio of costs that earns points). These checks are made for every task:

- The unchanged exercise file earns no points, and its message explains what to do.
- The baseline is right and reaches no tier.
- Each `tier<k>_*` reaches exactly tier k.
- Each `wrong_*` is wrong, and the student reads this file's own docstring.
- The solution earns full marks. Its ratio is at least `Task.least_gain` (usually 2) times the top tier's ratio.
- No right submission has a ratio near a tier's ratio, because its grade could then differ on another machine.
- There are three hints, further reading, and the idea of the solution.
- No code in the student kit earns points, and no answer that ignores the input is right (`kit_leaks`).
- Before it has measured anything, no submission can guess the answers to simulated scenarios (`giveaways`).
- Each draw has test cases that no other draw has (`known_cases`).

Submissions for simulated tasks run in this process. All other submissions run in processes of their own.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import catalogue, kinds, overlays, paths, ways
from grader.authoring import giveaways, kit_leaks, known_cases, mistakes, task_texts
from grader.authoring.stubs import stub_of
from grader.authoring.task_texts import docstring
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.isolation.pool import Pool
from grader.kinds.simulated import SimulatedExaminer
from grader.records import UNGRADED, Status, Submission, Verdict
from grader.session import Session
from grader.task import Task, Tier
from grader.trials.score import EARNS, score
from harness.rendering import units

FEWEST_WRONG: Final = 2
FEWEST_WORDS: Final = 15
"""The smallest number of words in `Task.idea`. A shorter text would not explain why the solution is fast."""

PLANNED: Final = 0.02
"""The largest allowed natural logarithm of a simulated baseline's measured cost divided by its computed cost."""

NAMES: Final = re.compile(r"baseline(_\w+)?|tier\d_\w+|wrong_\w+")


@dataclass(frozen=True, slots=True)
class KnownGrade:
    """The grade of one known submission. `surprise` describes a grade that its author did not expect, or is ""."""

    task: Task
    name: str
    verdict: Verdict
    surprise: str

    @property
    def line(self) -> str:
        """The line that the command `lint` prints for this submission."""
        speed, verdict = self.verdict.attempt.speed, self.verdict
        measured = f"{speed.ratio:6.2f}×  tier {speed.tier}" if speed else ""
        if speed and self.task.tiers:
            measured += f"  {units.percent(distance(speed.ratio, self.task.tiers))} from a tier"
        told = f"{self.task.full_name:36} {self.name:32} {verdict.points:5g}  {verdict.status:16} {measured}"
        return f"{'✗' if self.surprise else '✓'} {told}"


def distance(ratio: float, tiers: Sequence[Tier]) -> float:
    """Return the factor between `ratio` and the nearest grade threshold, minus 1, or infinity without thresholds."""
    return min((max(ratio / tier.ratio, tier.ratio / ratio) - 1 for tier in tiers), default=math.inf)


def tier_named(task: Task, stem: str) -> int:
    """Return the tier that the file name of a right submission states. The solution has the top tier."""
    named = re.match(r"tier(\d)_", stem)
    return int(named[1]) if named else 0 if stem.startswith("baseline") else len(task.tiers)


def problems(lesson: str) -> Iterator[str]:
    """Yield the problems of a lesson's exercise that are found without grading. Each names its lesson or task."""
    tasks = catalogue.load().tasks(lesson)
    source = paths.solution(lesson).read_text(encoding="utf-8")
    if not paths.stub(lesson).is_file() or paths.stub(lesson).read_text(encoding="utf-8") != stub_of(source):
        yield f"{lesson}: the stub differs from the stub made from the solution: run `python -m grader stubs`"
    for folder in (tasks[0].folder / "known").iterdir():
        if folder.name not in {task.name for task in tasks}:
            yield f"{lesson}: known/{folder.name} belongs to no task"
    for task in tasks:
        yield from (f"{task.full_name}: {problem}" for problem in task_problems(task))
    yield from kit_leaks.leaks(lesson)
    for task in tasks:
        found = (*kit_leaks.right_blind_answers(task), *giveaways.giveaways(task), *known_cases.repeated(task))
        yield from (f"{task.full_name}: {sentence}" for sentence in found)


def task_problems(task: Task) -> Iterator[str]:
    """Yield the problems of one task that are found without grading, such as an empty hint."""
    if not all(hint.strip() for hint in task.hints):
        yield "a hint is empty"
    if len(task.idea.split()) < FEWEST_WORDS:
        yield f"its idea, shown after full marks, is missing or has fewer than {FEWEST_WORDS} words"
    if len(task_texts.ways_in(task)) > task_texts.MOST_WAYS:
        yield f"more than {task_texts.MOST_WAYS} known submissions have a “{task_texts.TRADE.strip()}” paragraph"
    if task_texts.written_ways(task, ways.ways_of(task)) != ways.ways_of(task):
        yield f"its texts in {ways.FILE.name} differ from the known submissions: run `python -m grader stubs`"
    if not task.references.strip():
        yield "it names no further reading: fill in references"
    ratios = [tier.ratio for tier in task.tiers]
    if task.tiers and (ratios != sorted(set(ratios)) or task.tiers[-1].share != 1):
        yield "its tiers do not ascend, or the last tier does not give all points"
    if len(task.wrong_answers) < FEWEST_WRONG:
        yield f"it has fewer than {FEWEST_WRONG} known wrong answers: add known/{task.name}/wrong_….py"
    for path in sorted(task.known.iterdir()):
        if path.name != "__pycache__" and (path.suffix != ".py" or not NAMES.fullmatch(path.stem)):
            yield f"{path.name} is not the name of a known submission: use baseline.py, tier<k>_….py or wrong_….py"
    for number in range(1, len(task.tiers) + 1):
        if not any(task.known.glob(f"tier{number}_*.py")):
            yield f"no known submission reaches tier {number}"
    yield from (f"{path.name} has no docstring that explains it" for path in task.wrong_answers if not docstring(path))
    yield from mistakes.problems(task)


def table(lesson: str, seed: str, pool: Pool, tell: Callable[[str], None]) -> Iterator[KnownGrade]:
    """Grade the exercise file, the known submissions and the solution of each task, and yield the grade of each.

    `seed` is the seed of the test cases. `pool` provides the processes in which submissions run. `tell` is called with
    the name of each submission before it is graded.
    """
    tasks = catalogue.load().tasks(lesson)
    with pool.one_hand_in(tensors=any(task.needs_torch for task in tasks)) as trees:
        for task in tasks:
            files = [paths.stub(lesson), *sorted(task.known.glob("*.py")), paths.solution(lesson)]
            for number, path in enumerate(files, start=1):
                name = {files[0]: "stub", files[-1]: "solution"}.get(path, path.stem)
                tell(f"{task.full_name}, {name} ({number} of {len(files)})")
                yield _grade(task, name, path, Session(seed, trees))


def _grade(task: Task, name: str, path: Path, session: Session) -> KnownGrade:
    same = digest(task.baseline.encode())  # one digest for all files, so that all are graded on the same inputs
    submission = Submission("lint", task.lesson, path.name, same, overlays.whole(path))
    verdict = (grade_task if name in {"stub", "solution"} else _known)(task, submission, session)
    surprise = _surprise(task, name, path, verdict) or _near(task, verdict)
    return KnownGrade(task, name, verdict, surprise)


def _known(task: Task, submission: Submission, session: Session) -> Verdict:
    """Return the grade of an example submission. Simulated test cases run in this process, which is faster."""
    examiner = kinds.examiner(task, session.seed, task.full_name, submission.sha256)
    if isinstance(examiner, SimulatedExaminer) and submission.source is not None:
        with suppress(Exception):  # a submission that raises is graded in a worker instead
            return score(task, examiner.examine_here(str(submission.source)))
    return grade_task(task, submission, session)


def _surprise(task: Task, name: str, path: Path, verdict: Verdict) -> str:
    attempt = verdict.attempt
    if verdict.status in UNGRADED:
        return attempt.rationale
    if name == "stub":
        return "" if verdict.points == 0 and attempt.rationale else "the stub earns points or gets no message"
    if name.startswith("wrong_"):
        if verdict.status is not Status.WRONG:
            return f"expected wrong, got {verdict.status}"
        return "" if attempt.help == docstring(path) else f"expected its docstring as explanation, got {attempt.help!r}"
    if verdict.status not in EARNS:
        return f"expected right, got {verdict.status}: {attempt.rationale}"
    if name == "solution":
        return _solution(task, verdict)
    speed, expected = attempt.speed, tier_named(task, name)
    tier = speed.tier if speed else None
    if name == "baseline" and task.simulated and task.tiers and speed and abs(math.log(speed.ratio)) > PLANNED:
        return f"its cost is 1 / {speed.ratio:.3f} of its scenarios' plain_cost: correct plain_cost"
    return "" if tier == expected else f"expected tier {expected}, got {tier}"


def _near(task: Task, verdict: Verdict) -> str:
    speed = verdict.attempt.speed
    least = max(task.cost.margin, task.exam.guess_gain)
    if speed is None or distance(speed.ratio, task.tiers) >= least:
        return ""
    near = min(task.tiers, key=lambda tier: distance(speed.ratio, (tier,)))
    away = units.percent(distance(speed.ratio, (near,)))
    where = f"{units.ratio(speed.ratio)} is {away} from the tier at {units.ratio(near.ratio)}"
    return f"{where}; at least {units.percent(least)} is needed, because the ratio differs on other machines"


def _solution(task: Task, verdict: Verdict) -> str:
    if verdict.points < verdict.max_points:
        return f"the solution earns {verdict.points:g} of {verdict.max_points:g}"
    speed = verdict.attempt.speed
    if task.tiers and speed and speed.high < task.least_gain * task.tiers[-1].ratio:  # even the upper end is too low
        part = "half" if task.least_gain == 2 else f"1 / {task.least_gain:g}"
        gains = f"the solution reaches {speed.ratio:.2f}×, at most {speed.high:.2f}×"
        needs = f"full marks need {task.tiers[-1].ratio:g}×"
        return f"{gains}, and {needs}, which is more than {part} of the solution's ratio"
    return ""
