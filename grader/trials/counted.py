"""Grade a plain Python function: check all answers, then count its instructions or opcodes.

Valgrind counts instructions. The interpreter's own events count opcodes (`grader/inside/opcode_counter.py`).

A count covers a whole process, from its first to its last instruction. Three processes import and compile the same
code. One runs the submission, one the baseline (a simple function), and one only returns the right answers. The count
of the third process is subtracted from the other two. So everything that a submission does is counted, also at import,
and no counter needs to be switched on or off. Load of other programs does not change a count: two counts of the same
code differ by at most ten instructions in a million. So each process runs once, and all three run at the same time.

These parts are trusted, for these reasons:

- *The instruction count* is printed by valgrind to a pipe. Valgrind lets no program close, replace or write to its own
  copy of the pipe's descriptor. The driver closes the program's copy before the submission runs. The grader reads the
  count from no file.
- *There is only one count.* A submission could at most add text to valgrind's log. Valgrind's own text still follows
  unless valgrind is killed. So a log with two totals, or an exit status other than 0, is rejected.
- *No other process did the work.* The program cannot start another process. The driver removes the functions for it, an
  audit hook refuses the remaining ways, and the kernel limits the number of processes. The program has no files and no
  network.
- *The work was done.* The answers to secret inputs, drawn for this count, are judged like all other answers. They
  arrive on a second pipe, to which the submission could write. But the submission must first compute right answers, and
  this computation is counted.
- *The opcode count* arrives with the answers and a key. The process got the key before the submission ran, and no
  function of the process returns it. `grader/inside/opcode_counter.py` explains why a submission cannot stop the
  counter.
- *The difference.* Writing the answers costs the same in all three processes, because a submission cannot replace the
  code that writes them. A submission with a lower count than the process that only returns the answers is refused.
- *The counters* are in the memory of the counted process. Only native code should reach them, so no native code is
  available. There is no ctypes, no extension module except those that the exam allows, and no code object that Python
  has not compiled itself. But plain Python can use known flaws of the interpreter to write to any address, and no list
  of forbidden names covers all of them. So the CPU time, which is measured outside the process, decides too
  (`cpu_time.py`).

One thing is *not* promised. A submission with a forged count gets the tier of an honest submission with the same CPU
time. This tier may be higher than that of its true count. `grader/README.md` lists the tiers that CPU time does not
distinguish. A ratio of counts far above the best known ratio is listed for the instructor (`MOST_TIMES`).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from grader.errors import GraderFault, WorkerFault
from grader.records import Attempt, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.task import CountedExam, Scenario, SimulatedExam, Task, tier_of
from grader.trials import counted_process, cpu_time, loading_share, simulated, valgrind
from grader.trials.counted_process import BASELINE, NOTHING, SUBMISSION, Count, count, mismatch
from grader.trials.faults import blame_grader
from harness.rendering.units import ratio

MOST_TIMES: Final = 3.0
"""An instructor must check a ratio of counts that is more than this many times the best known ratio of the task."""


def examine(
    task: Task, exam: CountedExam, source: str, session: Session, seed: Sequence[str], *, by_valgrind: bool
) -> Attempt:
    """Check a submission's answers to all test cases. If all are right, count its instructions or opcodes.

    With `by_valgrind`, instructions of the processor are counted.
    """
    plain = SimulatedExam(exam.scenarios, scenario_noun="cases")
    attempt = simulated.examine(replace(task, tiers=()), plain, source, session, (*seed, "cases"))
    if attempt.status is not Status.PASSED:
        return attempt
    if by_valgrind:
        valgrind.require()
    scenarios = exam.counted(generator(*seed, "counted"))
    right = [exam.answer(scenario) for scenario in scenarios]
    runs = counted_process.requests(task, exam, source, scenarios, right, opcodes=not by_valgrind)
    inputs = tuple(seed)
    with ThreadPoolExecutor(3) as side_by_side:

        def begin(whose: Mapping[str, Any]) -> Future[Count]:
            return side_by_side.submit(count, task, session, whose, by_valgrind=by_valgrind)

        mine = begin(runs[SUBMISSION])
        counts = {"answer": begin(runs[NOTHING])}
        if inputs not in session.baseline_counts:
            counts["baseline"] = begin(runs[BASELINE])
    _keep_baseline(session, inputs, scenarios, counts)
    counted = mine.result()
    with blame_grader(f"Counting the baseline of {task.full_name}"):
        known = {whose: one.result() for whose, one in counts.items()}
    for whose, one in known.items():
        if wrong := mismatch(scenarios, one.answers):
            raise GraderFault(f"The {whose} of {task.full_name} is wrong: {wrong.expected}, got {wrong.got}.")
    counted_process.require_right(task, scenarios, counted.answers, "the cost was counted")
    taken = counted.taken - known["answer"].taken
    if taken < 0:
        raise WorkerFault(
            Status.PROTOCOL_VIOLATION,
            f"{task.name} took fewer {task.cost} than a program that only returns the answers.",
            "Return the answers, and do not change the program that calls your function.",
        )
    found = speed(task, taken, session.baseline_counts[inputs])
    first = 0.0
    if "baseline" in known:
        first = cpu_time.gain_of(counted.cpu_s, known["baseline"].cpu_s, known["answer"].cpu_s)
    believed, doubt = cpu_time.believed(task, exam, source, session, seed, found, first)
    attempt = replace(attempt, speed=believed, doubt=doubt)
    if found.tier < len(task.tiers) and not loading_share.is_cheap_to_load(source):
        remark = loading_share.remark(task, session, runs, taken, by_valgrind=by_valgrind)
        attempt = replace(attempt, rationale=remark)
    return _plausible(exam, found, attempt)


def _plausible(exam: CountedExam, found: Speed, attempt: Attempt) -> Attempt:
    """Return the result, marked for the instructor if the ratio of counts is far above the best known ratio."""
    if found.ratio <= MOST_TIMES * exam.best_ratio:
        return attempt
    reason = (
        f"The ratio of counts, {ratio(found.ratio)}, is more than {MOST_TIMES:g} times the best known ratio, "
        f"{ratio(exam.best_ratio)}. The instructor must check this result."
    )
    return replace(attempt, status=Status.IMPLAUSIBLE, rationale=reason)


def _keep_baseline(
    session: Session, inputs: tuple[str, ...], scenarios: Sequence[Scenario], counts: Mapping[str, Future[Count]]
) -> None:
    if "baseline" not in counts or any(one.exception() for one in counts.values()):
        return
    baseline, empty = counts["baseline"].result(), counts["answer"].result()
    if not mismatch(scenarios, baseline.answers) and not mismatch(scenarios, empty.answers):
        session.baseline_counts[inputs] = baseline.taken - empty.taken


def speed(task: Task, mine: int, baseline: int) -> Speed:
    """Return the ratio of the baseline's count to the submission's, and the number of required ratios that it reaches.

    Both are counts without that of a process that runs neither.
    """
    found = max(baseline, 1) / max(mine, 1)
    return Speed(found, found, found, rounds=1, tier=tier_of(found, task.tiers))
