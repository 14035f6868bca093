"""Grade a function that measures something, in simulated scenarios: a clock, noise and a right answer known in advance.

The submission only receives functions that send a message to the grader, which counts every call. The scenario computes
the cost of the submission, and that of a simple method (`plain_cost`), with which it is compared. This method is never
run, because its code would be almost a solution: it measures correctly but too often.

A submission may guess in a few scenarios without measuring anything, which costs almost nothing. So the ratio of each
scenario is limited. Then guesses in k of n scenarios multiply the ratio of a task by at most about 2^(k/n).
"""

import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from grader.errors import GraderFault
from grader.isolation.forkserver import ForkServer
from grader.kinds.examiner import Examiner, Solver, told
from grader.records import Attempt, Cost, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.source import Source
from grader.task import Exact, Mismatch, Planned, Scenario, SimulatedExam, SimulatedFunction, Task, tier_of
from grader.trials import known_mistakes
from grader.trials.faults import FIRST, RAISED_IN, blame_submission
from grader.trials.known_mistakes import Probed
from grader.trials.worker_client import WorkerClient, worker
from grader.values import Value

CALLS: Final = Cost("calls", "makes {} as many calls", "times fewer calls")
"""Calls of a simulated function."""

SIMULATED_TIME: Final = Cost("simulated time", "takes {} as much simulated time", "times less simulated time")

MOST_TIMES_MEDIAN: Final = 2.0
"""The ratio of one scenario counts at most as this number times the median ratio of the right answers."""

MOST_SHOWN: Final = 200
"""The most characters of arguments that a message shows."""


@dataclass(frozen=True)
class Played:
    """A finished scenario with the submission's answer, and a mismatch if the answer is wrong."""

    scenario: Scenario
    answer: object
    mismatch: Mismatch | None

    @property
    def probed(self) -> Probed:
        """The answer, and whether it is wrong."""
        return self.answer, self.mismatch is not None

    def result(self, *, planned: bool) -> "ScenarioResult":
        """Return what grading keeps of the scenario. With `planned`, it has the ratio, so its costs must be known."""
        scenario = self.scenario
        return ScenarioResult(
            scenario.title, self.mismatch, measures(scenario), gain(scenario) if planned else math.nan
        )


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """What grading keeps of a finished scenario: its ratio `gain`, or NaN if the task has no tiers, and the mismatch.

    The scenario itself is not kept: a submission can make it record millions of calls. `measured` is whether the
    submission got simulated functions.
    """

    title: str
    mismatch: Mismatch | None
    measured: bool
    gain: float


@dataclass
class SimulatedExaminer(Examiner[SimulatedExam]):
    """Grades a function in simulated scenarios, which are new each time because they count calls."""

    def examine(self, source: Source, session: Session) -> Attempt:
        """Grade a submission in all scenarios, in a sandboxed process. Scenarios cannot measure a cost by a clock."""
        if self.task.cost.clock:
            raise self.cannot_measure()
        with session.pool.fresh(tensors=self.exam.needs_torch or imports_torch(source)) as tree:
            return self.examine_in(tree, source)

    def examine_in(self, tree: ForkServer, source: Source) -> Attempt:
        """Grade a submission in all scenarios, in a new process of `tree`."""
        with worker(tree, self.task.limits) as one:
            with blame_submission("The file"):
                one.load(source)
            mine, together = self._results(partial(self._play, one))
            printed = one.output_tail
            return replace(self._judged(mine, together, partial(self._play, one)), output_tail=printed)

    def examine_here(self, source: str) -> Attempt:
        """Grade a submission of the kit in this process, where a simulated call takes 1 µs instead of 100 µs."""
        play = partial(_played, self.solver(source))
        return self._judged(*self._results(play), play)

    def _results(self, play: Callable[[Scenario], Played]) -> tuple[list[ScenarioResult], Mismatch | None]:
        """Play new scenarios. Return the result of each, and the mismatch over all of them.

        Each scenario is dropped once it is finished, unless the exam judges all of them together.
        """
        waiting, finished, results = [*self.given][::-1], list[Scenario](), list[ScenarioResult]()
        while waiting:
            played = play(waiting.pop())
            results.append(played.result(planned=bool(self.task.tiers)))
            finished += [played.scenario] if self.exam.together else []
        return results, self.exam.together and self.exam.together(finished)

    def _judged(
        self, mine: list[ScenarioResult], together: Mismatch | None, play: Callable[[Scenario], Played]
    ) -> Attempt:
        failed = [result for result in mine if result.mismatch]
        if len(failed) > self.exam.forgiven:
            allowed = f" ({self.exam.forgiven} may be)" if self.exam.forgiven else ""
            said = f"Wrong in {len(failed)} of {len(mine)} {self.exam.scenario_noun}{allowed}."
            said, mismatch = f"{said} {FIRST} {failed[0].title}", failed[0].mismatch
        else:
            said = f"Wrong over all {len(mine)} {self.exam.scenario_noun} together."
            mismatch = together
        ended = Attempt(Status.PASSED, cases_passed=len(mine) - len(failed), cases=len(mine))
        if mismatch:
            explanation = self.explanation(lambda probe: play(probe).probed)
            text = "\n".join((said, *(mismatch if explanation else replace(mismatch, remark="")).lines))
            return replace(ended, status=Status.WRONG, rationale=text, help=explanation or mismatch.remark)
        uncounted = Speed(ratio=1.0, low=1.0, high=1.0, rounds=len(mine), tier=0)
        return replace(ended, speed=speed(self.task, mine) if self.task.tiers else uncounted)

    def _play(self, one: WorkerClient, scenario: Scenario) -> Played:
        arguments = [
            {"simulated": a.name} if isinstance(a, SimulatedFunction) else {"value": a} for a in scenario.arguments
        ]
        with blame_submission(scenario.function, f"{RAISED_IN} {case_title(scenario)}"):
            claim = one.values(scenario.function, arguments, scenario.call, self.exam.max_calls)
            if "answer" in claim:
                return Played(scenario, claim["answer"], judged(scenario, claim["answer"]))
        outer, inner = (str(claim.get(part))[:80] for part in ("type", "inside"))
        got = f"a {outer}" if inner == outer else f"a {outer} that contains a {inner}"
        advice = (
            "Return numbers, texts, lists and dicts. Convert other objects, for example a generator with list(...)."
        )
        return Played(scenario, None, Mismatch("plain values", got, advice))

    @property
    def given(self) -> Sequence[Scenario]:
        """New scenarios."""
        return self.exam.scenarios(generator(*self.seed))

    @property
    def probes(self) -> Sequence[Scenario]:
        """New scenarios from the public seed of known mistakes."""
        return self.exam.scenarios(generator(known_mistakes.SEED))

    def probed(self, solver: Solver, case: Scenario) -> Probed:
        """Return a function's answer to a scenario, and whether this answer is wrong."""
        return _played(solver, case).probed

    @property
    def measures(self) -> bool:
        """Whether the function takes measurements. Even a right one then fails in a few random cases."""
        return any(map(measures, self.given))

    def ratio(self, solver: Solver) -> float:
        """Return the ratio of a right function, as grading computes it."""
        return speed(self.task, self._results(partial(_played, solver))[0]).ratio

    def _mistake(self, solver: Solver) -> str:
        return self.mistake_in(solver, self.given)

    def mistake_in(self, solver: Solver, scenarios: Sequence[Scenario]) -> str:
        """Return a description of the first wrong answer, or "" if enough answers to these scenarios are right."""
        wrong = list[str]()
        for scenario in scenarios:
            try:
                wrong += filter(None, [told(case_title(scenario), judged(scenario, as_plain(solver(scenario))))])
            except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception makes the answer wrong
                wrong.append(f"{scenario.title}: raises {type(error).__name__}")
            if len(wrong) > self.exam.forgiven:
                return wrong[0]
        return told("all scenarios together", self.exam.together and self.exam.together(scenarios))

    def bound(self, names: Mapping[str, Any]) -> Solver:
        """Return a function that answers a scenario with the functions in `names`."""

        def answer(scenario: Scenario) -> Value:
            plain: Value = as_plain(names[scenario.function](*arguments_here(scenario, self.exam.max_calls)))
            return plain

        return answer


def imports_torch(source: Source) -> bool:
    """Return whether a submission imports torch. Then it needs a process that was forked with torch imported."""
    return re.search(r"^[ \t]*(import|from)[ \t]+torch\b", str(source), re.MULTILINE) is not None


def _played(solver: Solver, scenario: Scenario) -> Played:
    answer = solver(scenario)
    return Played(scenario, answer, judged(scenario, answer))


def judged(scenario: Scenario, answer: Any) -> Mismatch | None:
    """Return how an answer differs from the right one, or None. The remark names a difference only in order."""
    mismatch = scenario.judge(answer)
    almost = near_miss(answer, scenario.right, scenario.order) if mismatch and isinstance(scenario, Exact) else ""
    return replace(mismatch, remark=almost) if mismatch and almost else mismatch


def near_miss(answer: Any, right: Any, order: str) -> str:
    """Return a sentence if a wrong answer differs from the right one only in order or by rounding, else ""."""
    if isinstance(answer, list) and isinstance(right, list) and sorted(answer, key=repr) == sorted(right, key=repr):
        return f"The rows are right, but their order is not. The right order: {order}."
    return "The numbers differ from the right ones only by rounding." if _only_rounded(answer, right) else ""


def _only_rounded(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(map(_only_rounded, one, other))
    exact, number = (one, other) if isinstance(one, float) else (other, one)
    if not isinstance(exact, float) or type(number) not in {int, float} or not abs(number) <= sys.float_info.max:
        return bool(one == other)
    return math.isclose(exact, number, rel_tol=known_mistakes.SAME_NUMBER) or any(
        number == round(exact, n) or exact == round(number, n) for n in range(13)
    )


def case_title(scenario: Scenario) -> str:
    """Return the title of a scenario, with the call of the student's function if its arguments are plain and short."""
    given = [argument for argument in scenario.arguments if not isinstance(argument, SimulatedFunction)]
    text = ", ".join(map(repr, given))
    plain = len(given) == len(scenario.arguments) and len(text) <= MOST_SHOWN
    return f"{scenario.title}, {scenario.function}({text})" if plain else scenario.title


def arguments_here(scenario: Scenario, max_calls: int = SimulatedExam.max_calls) -> list[Any]:
    """Return the arguments with which this process can call a submission's function in a scenario."""
    left = iter(range(max_calls))

    def asking(name: str) -> Callable[..., Value]:
        def ask(*given: Value) -> Value:
            if next(left, None) is None:
                raise GraderFault(f"it made more than {max_calls} calls")
            return scenario.call(name, tuple(map(as_plain, given)))

        return ask

    return [asking(one.name) if isinstance(one, SimulatedFunction) else as_plain(one) for one in scenario.arguments]


def as_plain(value: Any) -> Any:
    """Return a copy of a value with only the types of JSON, as if another process had sent it."""
    return value if type(value) in {str, int, float, bool, type(None)} else json.loads(json.dumps(value))


def speed(task: Task, mine: Sequence[ScenarioResult]) -> Speed:
    """Return the mean ratio over all scenarios: the simple method's cost divided by the submission's cost."""
    gains = [(own.gain, own.mismatch is None) for own in mine]
    ratio = mean_gain(gains, measured=any(own.measured for own in mine))
    rounds = sum(right for _, right in gains)
    return Speed(ratio=ratio, low=ratio, high=ratio, rounds=rounds, tier=tier_of(ratio, task.tiers))


def mean_gain(gains: Sequence[tuple[float, bool]], *, measured: bool) -> float:
    """Return the geometric mean of the ratios of all scenarios, given with whether each answer is right.

    A scenario with a forgiven wrong answer counts at most with the smallest ratio of the right answers. So a submission
    gains nothing if it gives up in the scenarios that cost the most. If the submission measures (`measured`), a
    scenario counts at most as `MOST_TIMES_MEDIAN` times the median ratio of the right answers, so guesses gain little.
    """
    ratios = [ratio for ratio, right in gains if right]
    least, most = min(ratios), MOST_TIMES_MEDIAN * statistics.median(ratios) if measured else math.inf
    return math.exp(math.fsum(math.log(min(ratio, most if right else least)) for ratio, right in gains) / len(gains))


def measures(scenario: Scenario) -> bool:
    """Return whether the submission gets simulated functions, such as a clock, in a scenario."""
    return any(isinstance(argument, SimulatedFunction) for argument in scenario.arguments)


def gain(played: Scenario) -> float:
    """Return the simple method's cost in a scenario divided by the submission's cost. Both must be positive."""
    if not isinstance(played, Planned):
        raise GraderFault(f"{type(played).__name__} has no plain_cost, which a task with tiers needs.")
    if played.plain_cost > 0 and played.cost > 0:
        return played.plain_cost / played.cost
    raise GraderFault(f"A cost of {type(played).__name__} is not positive: {played.plain_cost} and {played.cost}.")
