"""Record the answers of the known wrong submissions to a few probes, so that the student kit needs no wrong code.

A probe is a test case to which the known submissions give different answers. `grader stubs` writes the record of all
tasks, and `grader lint` reports a record that is out of date.
"""

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from grader import catalogue, kinds, overlays, paths
from grader.authoring.task_texts import docstring
from grader.files import write_atomically
from grader.kinds.examiner import Examiner
from grader.task import Inputs, Task, TensorExam
from grader.trials import known_mistakes
from grader.trials.known_mistakes import KnownMistakes, Probed, is_alike, shortened

ENOUGH: Final = 4
"""No more probes are chosen if each two known submissions differ in this number of probes."""

MOST_PROBES: Final = 12

LONGEST: Final = 2500
"""The most characters of a recorded answer. Test cases with longer answers are no probes."""

NOISE: Final = 8.0
"""The tolerance of numbers, divided by their change after changes of the inputs and of each result in the last bit.

Another processor adds numbers in another order, so it makes other rounding errors.
"""

NO_ANSWER: Final = "-" * LONGEST
"""Stands for an exception. As an answer, it is too long, so the test case is no probe."""


def recorded(task: Task) -> KnownMistakes:
    """Return the record of a task's known mistakes, with the probes that distinguish them best."""
    draw = kinds.examiner(task, known_mistakes.SEED)
    probed = {docstring(path): _probed(draw, path) for path in task.wrong_answers}
    tolerances = [draw.tolerance(case) for case in draw.probes]
    if isinstance(task.exam, TensorExam):
        with _rounds_otherwise():
            noisy = [_probed(draw, path, _in_the_last_bit) for path in task.wrong_answers]
        for found, otherwise in zip(probed.values(), noisy, strict=True):
            noise = map(_largest_difference, found, otherwise)
            tolerances = [max(allowed, NOISE * each) for allowed, each in zip(tolerances, noise, strict=True)]
    probes = sorted(_probes([*probed.values(), _probed(draw, paths.solution(task.lesson))], tolerances))
    return KnownMistakes(
        probes,
        [float(f"{tolerances[each]:.3g}") for each in probes],
        any(wrong for answers in probed.values() for _, wrong in answers),
        {text: [shortened(answers[each][0]) for each in probes] for text, answers in probed.items()},
    )


def problems(task: Task) -> Iterator[str]:
    """Yield a sentence if the record of a task is out of date, and for each known mistake that it does not explain."""
    known = known_mistakes.read().get(task.full_name, KnownMistakes())
    draw = kinds.examiner(task, known_mistakes.SEED)
    if set(known.answers) != {docstring(path) for path in task.wrong_answers}:
        yield f"its explanations differ from those in {known_mistakes.FILE.name}: run `python -m grader stubs`"
        return
    for path in task.wrong_answers:
        if known.explanation(_probed(draw, path, places=known.probes)) != docstring(path):
            yield f"{known_mistakes.FILE.name} does not recognise {path.name}: run `python -m grader stubs`"


def write() -> Path:
    """Write the known mistakes of all tasks, and return the file's path. Raise `WriteError` if this fails."""
    known = {task.full_name: recorded(task) for task in catalogue.all_tasks()}
    write_atomically(known_mistakes.FILE, known_mistakes.as_bytes(known))
    return known_mistakes.FILE


def _in_the_last_bit(inputs: Inputs) -> Inputs:
    """Return the inputs with the next larger floats, whose rounding errors are others."""
    return tuple(np.nextafter(each, np.inf) if each.dtype.kind == "f" else each for each in inputs)


def _rounds_otherwise() -> AbstractContextManager[object]:
    """Until the end of the `with` block, make each new float that torch computes larger by a unit in the last place."""
    import torch  # noqa: PLC0415 - it takes a second
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415
    from torch.utils._pytree import tree_map  # noqa: PLC0415

    def larger(found: Any) -> Any:
        is_float = isinstance(found, torch.Tensor) and (found.is_floating_point() or found.is_complex())
        return found * (1 + torch.finfo(found.dtype).eps) if is_float else found

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found, schema = func(*args, **(kwargs or {})), func._schema  # noqa: SLF001 - torch has no public name for it
            is_new = not any(each.alias_info for each in schema.returns)
            return tree_map(larger, found) if is_new else found

    return Mode()  # type: ignore[no-untyped-call]


def _largest_difference(one: Probed, other: Probed) -> float:
    if NO_ANSWER in (one[0], other[0]) or one[0][:-1] != other[0][:-1]:
        return 0.0
    with np.errstate(all="ignore"):
        differences = np.abs(np.subtract(one[0][-1], other[0][-1], dtype=np.float64))
    return float(np.max(differences, initial=0.0, where=np.isfinite(differences)))


def _probed(
    draw: Examiner[Any],
    path: Path,
    change: Callable[[Any], Any] = lambda case: case,
    places: Sequence[int] | None = None,
) -> list[Probed]:
    """Return a file's answers to the test cases at `places`, or to all, each with whether it is wrong.

    After an exception, the answer is `NO_ANSWER`. `change` is applied to each test case.
    """
    solver, cases, found = draw.solver(overlays.whole(path)), draw.probes, list[Probed]()
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for place in range(len(cases)) if places is None else places:
            found.append((NO_ANSWER, True))
            with suppress(Exception):
                found[-1] = draw.probed(solver, change(cases[place]))
    return found


def _probes(probed: Sequence[Sequence[Probed]], tolerances: Sequence[float]) -> list[int]:
    """Return the places of test cases in which each two mistakes differ, and each gives wrong answers, `ENOUGH` times.

    The next place is one that helps most the pairs and mistakes that the earlier places help least. Of several such
    places it is the one with the shortest answers.
    """
    left, lengths, times, chosen = dict[int, list[object]](), dict[int, int](), Counter[object](), list[int]()
    for place, (answers, allowed) in enumerate(zip(zip(*probed, strict=True), tolerances, strict=True)):
        records = [shortened(answer) for answer, _ in answers]
        lengths[place] = len(json.dumps(records))
        if max(len(json.dumps(record)) for record in records) <= LONGEST:
            left[place] = [at for at, (_, wrong) in enumerate(answers) if wrong]
            pairs = combinations(range(len(answers)), 2)
            left[place] += [(at, to) for at, to in pairs if not is_alike(records[at], answers[to][0], 2 * allowed)]
    while len(chosen) < MOST_PROBES and any(times[each] < ENOUGH for found in left.values() for each in found):
        best = max(left, key=lambda place: (sum(4.0 ** -times[each] for each in left[place]), -lengths[place]))
        times.update(left.pop(best))
        chosen.append(best)
    return chosen
