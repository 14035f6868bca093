"""Give points for a graded submission, and describe the measurement in sentences for the student."""

from dataclasses import replace
from typing import Final

from grader.records import Attempt, Control, Cost, Speed, Status, Verdict
from grader.task import Task
from harness.paired.decide import BENEFIT
from harness.rendering import measured
from harness.rendering.units import percent, ratio

EARNS = frozenset({Status.PASSED, Status.UNDECIDED})
"""The statuses of a graded submission whose measured cost earns points."""

RIGHT = EARNS | {Status.IMPOSSIBLE}
"""The statuses of a submission with right answers, whose cost was measured."""

UNBELIEVED = frozenset({Status.IMPOSSIBLE})
"""The statuses of a submission with right answers whose ratio an instructor must check. Lists of ratios omit it."""

LEAST_SHARE: Final = 0.01
"""The smallest printed share of the physical limit. A smaller one shows that the limit counts little of the work."""

ONE_DIGIT_BELOW: Final = 0.1
"""A share of the physical limit below this number is printed with one digit, because the limit is known to 10 %."""


def score(task: Task, attempt: Attempt) -> Verdict:
    """Return the verdict on a graded submission: its points, and a text for the student."""
    points, speed = 0.0, attempt.speed
    if attempt.status in RIGHT and speed is not None:
        attempt = replace(attempt, rationale=f"{_right(task, attempt, speed)}\n{attempt.rationale}".rstrip())
        points = task.points * share(task, speed.tier)
    return Verdict(task.full_name, round(points, 2), task.points, task.cost, attempt)


def share(task: Task, tier: int) -> float:
    """Return the share of a task's points for a right submission that is fast enough for `tier` of the task's tiers."""
    if not task.tiers:
        return 1.0
    return task.tiers[tier - 1].share if tier else task.correct_share


def compared(cost: Cost | None, speed: Speed) -> str:
    """Return a measured ratio as a clause: "the baseline takes 44× as long as the submission"."""
    times = measured.ratio(speed.ratio, speed.low, speed.high)
    return f"the baseline {(cost.clause if cost else 'takes {} as long').format(times)} as the submission"


def _right(task: Task, attempt: Attempt, speed: Speed) -> str:
    forgiven, cases = task.exam.forgiven, f"Right on all {attempt.cases} cases."
    if forgiven and attempt.cases_passed < attempt.cases:
        cases = f"Right on {attempt.cases_passed} of {attempt.cases} cases, and {forgiven} may be wrong."
    if not task.tiers:
        return cases
    if attempt.status is Status.IMPOSSIBLE:
        return f"{cases} {_impossible(attempt, speed)}"
    clause, known = compared(task.cost, speed), reached_share(speed, attempt.control)
    limit = f" The submission reaches {known} of this core's physical limit." if known else ""
    return f"{cases} {clause[:1].upper()}{clause[1:]}{_tier(task, attempt, speed)}{limit}"


def _tier(task: Task, attempt: Attempt, speed: Speed) -> str:
    found = ""
    if speed.low < speed.high:
        low, high = measured.interval(speed.ratio, speed.low, speed.high)
        found = f" ({low} to {high}; {speed.rounds} rounds)"
    if speed.undecided and speed.tier and task.tiers[speed.tier - 1].ratio > speed.low:
        edge = ratio(task.tiers[speed.tier - 1].ratio)
        return f"{found}. The tier at {edge} lies within this interval, so you get the higher tier."
    if speed.undecided:
        edge = ratio(task.tiers[speed.tier].ratio)
        benefit = attempt.control.benefit if attempt.control else BENEFIT
        return (
            f"{found}. The rounds differ so much that the true ratio may reach the tier at {edge}. But this tier is "
            f"more than {percent(benefit - 1)} above the measured ratio, and the control measurement was more exact "
            "than that. So this tier does not count."
        )
    if speed.tier < len(task.tiers):
        following = task.tiers[speed.tier]
        return f"{found}. Next tier: {ratio(following.ratio)}, {task.points * following.share:g} points."
    return f"{found}. That is the top tier."


def reached_share(speed: Speed, control: Control | None) -> str:
    """Return the ratio as a share of the physical limit, such as "57 %", or "" if it is unknown or tiny."""
    if control is None or not control.most_ratio or speed.ratio < LEAST_SHARE * control.most_ratio:
        return ""
    share = min(speed.ratio / control.most_ratio, 1.0)
    return percent(share, 2 if share >= ONE_DIGIT_BELOW else 1)


def _impossible(attempt: Attempt, speed: Speed) -> str:
    most, why = attempt.control.most_ratio if attempt.control else None, ""
    if most and speed.ratio > most:
        ratios = ratio(speed.ratio, 2), ratio(most, 2)
        why = " The ratio to the baseline is {}. On this core, it cannot be larger than {}.".format(*ratios)
    return (
        f"The measured time is impossible: no right function is so fast on this core.{why} So this time earns no "
        "points. The instructor must check this result."
    )
