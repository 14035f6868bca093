"""Spend the slip days of students and of teams on the lessons of a class where they save most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.class_run.stored_attempts import Admitted
from grader.course import policy
from grader.course.course_file import Course
from grader.course.policy import DateRule, Slip
from grader.course.slip_days import LateLesson, SlipRule, best
from grader.course.totals import weight_of

Key = tuple[str, str]
"""A student and a lesson."""

_Payer = tuple[str, str]
"""A team and "", or "" and a student: one of them pays with slip days of its own budget."""


@dataclass(frozen=True, slots=True)
class LessonAttempts:
    """The attempts of one student at one lesson, the rule for them, and the tasks with points by hand."""

    admitted: Admitted
    rule: DateRule
    by_hand: frozenset[str] = frozenset()

    def gains(self, most: int, worth: Fraction) -> list[Fraction]:
        """Return what 0, 1, 2, … slip days save, up to `most`, in points times `worth`. Points by hand save nothing.

        An attempt without a grade saves nothing yet.
        """
        rule, attempts = self.rule, [row for row in self.admitted.attempts if row.there or row.points is not None]
        rows = [attempts[place] for place in policy.deciding(attempts, rule)]
        late = [0 if rule.is_closed(row.at) else rule.days_late(row.at) for row in rows]
        if not any(late) or any(row.points is None for row in rows):
            return [Fraction(0)]
        earned = [(0.0 if rule.is_closed(row.at) else row.points or 0.0) for row in rows]
        left = []
        for spent in range(min(most, max(late)) + 1):
            kept = [1 - rule.lost_for(days - spent) for days in late]
            points = [policy.rounded(each * share) for each, share in zip(earned, kept, strict=True)]
            chosen = points.index(max(points))
            rest = points[chosen]
            if self.by_hand and earned[chosen]:
                of_tasks = (got for task, got in rows[chosen].by_task.items() if task not in self.by_hand)
                rest = policy.rounded(sum(of_tasks) * kept[chosen])
            left.append(round(100 * rest))
        return [(one - left[0]) * worth / 100 for one in left]


def spend(found: Mapping[Key, LessonAttempts], course: Course, possible: Mapping[str, float]) -> dict[Key, Slip]:
    """Return the slip days of each student and lesson that has a budget, also where none are spent.

    A lesson whose results are hidden spends no days, because the days that are left would tell its points.
    """
    payers: dict[_Payer, dict[str, list[Key]]] = {}
    for student, lesson in found:
        team = course.team(student, lesson)
        payer = (team.name, "") if team and team.slip_days is not None else ("", student)
        payers.setdefault(payer, {}).setdefault(lesson, []).append((student, lesson))
    slips: dict[Key, Slip] = {}
    for (team_name, _), lessons in payers.items():
        rule = course.slip_days or SlipRule()
        budget = (course.teams[team_name].slip_days or 0) if team_name else rule.budget
        if not budget:
            continue
        late = []
        for keys in lessons.values():
            most = min(budget, max(rule.most(*key) for key in keys))
            late += [one] if (one := _late(found, keys, course, most, possible)) else []
        spent = best(late, budget)
        left = budget - sum(spent.values())
        for lesson, keys in lessons.items():
            slips |= dict.fromkeys(keys, Slip(spent.get(lesson, 0), left, budget, team_name))
    return slips


def _late(
    found: Mapping[Key, LessonAttempts], keys: Sequence[Key], course: Course, most: int, possible: Mapping[str, float]
) -> LateLesson | None:
    """Return what slip days save in one lesson, for one student or for all members of a team together, or None."""
    lesson = keys[0][1]
    dues = [due for key in keys if (due := found[key].rule.due_utc)]
    if course.hides(lesson) or not dues:
        return None
    full = possible.get(lesson, 0.0)
    worth = Fraction(str(weight_of(course, lesson, full))) / Fraction(str(full)) if full else Fraction(1)
    each = [found[key].gains(most, worth) for key in keys]
    days = range(max(map(len, each)))
    gains = tuple(sum((own[min(day, len(own) - 1)] for own in each), Fraction(0)) for day in days)
    return LateLesson(lesson, min(dues), gains)
