"""Make a class of any size without grading: plausible verdicts on the real tasks."""

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from grader import catalogue
from grader.course.roll import Roll, Span, TaskPoints
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
WHY = (
    "A sum in the dtype of the inputs loses digits when it is long.",
    "Rows of length one broadcast by accident.",
    "",
)


def roll(number: int, *, rounds: int = 160) -> Roll:
    """Return a class of students, some with names that are hard to display, who handed in most lessons.

    Two hand-ins are graded at a time, with a night between two halves.
    """
    names = [NAMES[i] if i < len(NAMES) else f"{NAMES[i % 12]}.{i:04d}" for i in range(number)]
    rng, clock = random.Random(1), NOON
    graded: list[tuple[Report, Span]] = []
    for student in names:
        skill = rng.betavariate(3, 2)
        if student == names[number // 2]:
            clock += timedelta(hours=9)
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
    refused = rng.random() < 0.01
    source = None if refused else f"# {student}\n" + "x = 1\n" * 80
    refusal = "main.py is not UTF-8 text; save it as UTF-8 in your editor and hand it in again." if refused else ""
    digest = f"{rng.getrandbits(256):064x}"
    submission = Submission(student, lesson, f"{student}/{lesson}.py", digest, source, refusal)
    tasks = catalogue.load().tasks(lesson)
    verdicts = tuple(score(task, _attempt(task, skill, rng, rounds, refusal)) for task in tasks)
    return Report(submission, verdicts, ENVIRONMENT, sandboxed=True, duration_s=took.total_seconds(), missing=(LAYER,))


def _attempt(task: Task, skill: float, rng: random.Random, rounds: int, refusal: str) -> Attempt:
    luck = rng.random()
    if refusal:
        return Attempt(Status.REFUSED, refusal)
    if luck < 0.003:
        return Attempt(Status.TOO_NOISY, "This machine is too noisy to judge speed.")
    if luck < 0.006:
        return Attempt(Status.CHEATED, "It used 1.9 s of CPU outside its turns.")
    if luck > 0.25 + 0.7 * skill:
        return _wrong(task, rng)
    clocked = bool(task.cost.clock) and isinstance(task.exam, TensorExam)
    top = task.tiers[-1].ratio if task.tiers else 1.0
    ratio = math.exp(rng.gauss(math.log(max(top, 1.1)) * (0.3 + 0.8 * skill), 0.25)) if task.tiers else 1.0
    near = next((tier for tier in task.tiers if abs(ratio / tier.ratio - 1) < 0.02), None) if clocked else None
    off, tier = rng.uniform(0.004, 0.02) if clocked else 0.0, tier_of(ratio, task.tiers)
    if near:
        tier, off = task.tiers.index(near) + 1, 0.03
    control = None
    if clocked:
        same = math.exp(rng.gauss(0, 0.004))
        control = Control(same, same * math.exp(rng.gauss(math.log(1.05), 0.004)), 0.05, True, int(rng.random() < 0.04))
    return Attempt(
        Status.UNDECIDED if near else Status.PASSED,
        speed=Speed(ratio, ratio * (1 - off), ratio * (1 + off), rounds if clocked else 12, tier, near is not None),
        rounds=tuple(_rounds(ratio, rounds, rng)) if clocked else (),
        control=control,
        cases_passed=20,
        cases=20,
    )


def _wrong(task: Task, rng: random.Random) -> Attempt:
    case = rng.choice(CASES[: 1 + int(rng.expovariate(0.8))])
    failed = rng.randint(1, 19)
    if isinstance(task.exam, TensorExam):
        told = f"Fails {failed} of 20 cases. The smallest: {case}\n  expected [1.5, 2.25]    got [1.5, 2.]"
    else:
        told = f"Wrong in {failed} of 20 simulated scenarios. The first: {case}\n  expected 1.5    got 2.0"
    if rng.random() < 0.2:
        raised = f"{task.name} raised ValueError: no (line 3). The smallest case: {case}"
        return Attempt(Status.RAISED, raised, cases=20)
    return Attempt(Status.WRONG, told, rng.choice(WHY), cases_passed=20 - failed, cases=20)


def _rounds(ratio: float, number: int, rng: random.Random) -> Iterator[Round]:
    for i in range(number):
        base = rng.uniform(0.9, 1.4) * 1e-3
        mine = base / ratio * math.exp(rng.gauss(0, 0.01) + (rng.random() < 0.02) * rng.uniform(-0.2, 0.2))
        yield Round(i % 5, Reading(base, base * 1.01, 8), Reading(mine, mine * 1.01, 8), rng.random() < 0.5)
