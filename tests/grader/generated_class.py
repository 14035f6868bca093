"""Make a class of any size without grading: plausible verdicts on the real tasks."""

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from grader import catalogue
from grader.course.results import Span, TaskPoints
from grader.course.roll import Roll
from grader.records import Attempt, Control, Report, Speed, Status, Submission
from grader.task import Task, TensorExam, tier_of
from grader.trials.score import score
from harness.machine.environment import Environment
from harness.paired.rounds import Reading, Round

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
ENVIRONMENT = replace(Environment.capture(ask_cuda=False), cuda_device=None)
LAYER = "limits on the tree by the kernel: no cgroup can be made here"
NAMES = (
    *("ada", "ben", "chen", "dora", "emil", "fatima", "george"),
    *("hana", "ivan", "juno", "kofi", "lena", "مريم", "Zoë"),
)
CASES = (
    "a, b of shape (0, 5), float32",
    "a, b of shape (1, 3), float32, b strided",
    "a, b of shape (5, 1), float16",
    "a, b of shape (4, 7), float32, a has a NaN",
    "a, b of shape (64, 1000), float16",
)


def roll(number: int, *, rounds: int = 160) -> Roll:
    """Return a class of students, some with names that are hard to display, who handed in most lessons.

    Two hand-ins are graded at a time.
    """
    names = [NAMES[i] if i < len(NAMES) else f"{NAMES[i % 12]}.{i:04d}" for i in range(number)]
    rng, clock = random.Random(1), NOON
    graded: list[tuple[Report, Span]] = []
    for student in names:
        skill = rng.betavariate(3, 2)
        for lesson in catalogue.load().lessons:
            if rng.random() >= 0.05:
                took = timedelta(seconds=rng.uniform(2, 9))
                report = _report(student, lesson, skill, rng, took, rounds)
                graded.append((report, Span(student, lesson, clock, clock + took)))
                clock += took / 1.9
    reports, spans = zip(*graded, strict=True)
    tasks = tuple(TaskPoints(task.lesson, task.full_name, task.points) for task in catalogue.all_tasks())
    notes = ("ben: left aside notes.txt",)
    return Roll("hw1", ENVIRONMENT.kit, tuple(names), tasks, reports, (), notes, spans=spans)


def _report(student: str, lesson: str, skill: float, rng: random.Random, took: timedelta, rounds: int) -> Report:
    source = f"# {student}\n" + "x = 1\n" * 80
    submission = Submission(student, lesson, f"{student}/{lesson}.py", f"{rng.getrandbits(256):064x}", source)
    verdicts = tuple(score(task, _attempt(task, skill, rng, rounds)) for task in catalogue.load().tasks(lesson))
    return Report(submission, verdicts, ENVIRONMENT, sandboxed=True, duration_s=took.total_seconds(), missing=(LAYER,))


def _attempt(task: Task, skill: float, rng: random.Random, rounds: int) -> Attempt:
    luck = rng.random()
    if luck < 0.003:
        return Attempt(Status.TOO_NOISY, "This machine is too noisy to judge speed.")
    if luck < 0.006:
        return Attempt(Status.CHEATED, "It used 1.9 s of CPU outside its turns.")
    if luck > 0.25 + 0.7 * skill:
        failed = rng.randint(1, 19)
        text = f"Fails {failed} of 20 cases. The smallest: {rng.choice(CASES)}\n  expected [1.5, 2.25]    got [1.5, 2.]"
        return Attempt(Status.WRONG, text, cases_passed=20 - failed, cases=20)
    clocked = bool(task.cost.clock) and isinstance(task.exam, TensorExam)
    ratio = (task.tiers[-1].ratio if task.tiers else 1.0) * math.exp(rng.gauss(skill - 0.7, 0.25))
    speed = Speed(ratio, ratio * 0.99, ratio * 1.01, rounds if clocked else 12, tier_of(ratio, task.tiers))
    turns = tuple(_rounds(ratio, rounds, rng)) if clocked else ()
    control = Control(1.001, 1.049, 0.05, holds=True, voided=int(luck < 0.03)) if clocked else None
    return Attempt(Status.PASSED, speed=speed, rounds=turns, control=control, cases_passed=20, cases=20)


def _rounds(ratio: float, number: int, rng: random.Random) -> Iterator[Round]:
    for i in range(number):
        base = rng.uniform(0.9, 1.4) * 1e-3
        mine = base / ratio * math.exp(rng.gauss(0, 0.01))
        yield Round(i % 5, Reading(base, base * 1.01, 8), Reading(mine, mine * 1.01, 8), rng.random() < 0.5)
