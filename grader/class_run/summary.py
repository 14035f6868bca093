"""How a run ended: what the instructor reads, and what the command ends with."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from grader import reports
from grader.class_run import journal
from grader.class_run.roll import Roll, is_faulted
from grader.records import Status
from grader.reports import words
from harness import units

EXIT_DONE, EXIT_FAULTS, EXIT_INTERRUPTED = 0, 3, 130
"""Every submission has its verdict · a fault of ours left some, or a report, without · Ctrl-C, as shells count it."""

_CONTROL = ("same", "slowed", "planted")


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended. `roll` is the whole class, `graded` how many different contents this run graded.

    `board` says that a leaderboard was written too, `told` are sentences on what this run changed for other hand-ins
    than those it graded. `unmade` is what to say of reports that the grader failed to make.
    """

    roll: Roll
    out: Path
    graded: int
    duration_s: float
    interrupted: bool
    board: bool = False
    unmade: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """Hand-ins that have no verdict because of a fault of ours."""
        return sum(is_faulted(report) for report in self.roll.reports)

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return EXIT_DONE if self.roll.is_final and not self.unmade else EXIT_FAULTS

    def lines(self) -> tuple[str, ...]:
        """Return what the instructor reads at the end."""
        n_all = len(self.roll.reports) + len(self.roll.waiting)
        if self.interrupted:
            kept = f"{units.count(len(self.roll.reports))} of {units.count(n_all)} hand-ins have their grades"
            end = f"Stopped: {kept}, and nothing is lost. Run the same command again to go on."
        elif not self.graded:
            end = f"Nothing to do: all {units.count(n_all)} hand-ins were graded before."
        else:
            end = f"Done in {units.seconds(self.duration_s)}."
        said = [end, self._median(), self._look_at()]
        of_student = (f"<student>/{reports.PAGE}", f"<student>/{reports.RESULTS}")
        of_class = (reports.PAGE, reports.GRADEBOOK, *([reports.BOARD] if self.board else []))
        files = (*of_class, *of_student, journal.FILE)
        written = "   " + "   ".join(str(self.out / name) for name in files)
        fault = f"{units.some(self.faults, 'hand-in')} met a fault of ours: run the same command again to retry."
        told = [" ".join(part for part in said if part), _control(self.roll) if self.graded else ""]
        told += [fault] if self.faults else []
        return (*filter(None, told), *self.told, *self.unmade, written)

    def _median(self) -> str:
        earned = [
            sum(points or 0.0 for points in of_student.values())
            for of_student in self.roll.grades().values()
            if of_student
        ]
        if not earned:
            return ""
        possible = sum(self.roll.possible(lesson) for lesson in self.roll.lessons)
        return f"Points: median {words.points(statistics.median(earned))} of {words.points(possible)}."

    def _look_at(self) -> str:
        ends = [verdict.status for report in self.roll.reports for verdict in report.verdicts]
        found = {
            "misnamed": sum(file.misnamed for file in self.roll.left_out),
            "refused": sum(report.submission.refused for report in self.roll.reports),
            "that broke the rules": ends.count(Status.CHEATED),
            "undecided": ends.count(Status.UNDECIDED),
            "without a verdict": self.faults + len(self.roll.waiting),
            "replaced before it was graded": len(self.roll.gone),
            "to be struck and not there": len(self.roll.unmatched),
        }
        listed = ", ".join(f"{units.count(number)} {what}" for what, number in found.items() if number)
        return f"Look at: {listed}." if listed else "Nothing needs a look."


def _control(roll: Roll) -> str:
    """How the controls of all duels came out, which says how far to trust this machine."""
    controls = [one.attempt.control for report, _ in roll.gradings() for one in report.verdicts if one.attempt.control]
    if not controls:
        return ""
    same, slowed, planted = (statistics.median(getattr(c, name) for c in controls) for name in _CONTROL)
    measured = f"{units.ratio(same, 4)}, {units.ratio(slowed, 4)} for {units.ratio(1 + planted, 4)}"
    voided = sum(control.voided for control in controls)
    again = f"; {units.some(voided, 'duel')} void and fought again" if voided else ""
    return f"Control: the baseline against itself {measured}{again}."
