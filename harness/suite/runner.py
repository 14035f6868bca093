"""A run of the suite: compile what is C++, take wall times, count instructions; each benchmark stands for itself.

A benchmark that does not compile, raises, crashes or hangs has its reason in its result, and all others go on. So has a
benchmark that needs what is not here: TorchScript in a torch that no longer has it, or a compiler.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from harness.callgrind import tools
from harness.callgrind.outfile import ProfileError
from harness.compilers import cannot_compile, torchscript_support
from harness.environment import Environment
from harness.errors import UsageError
from harness.suite import counts, cpp, pool
from harness.suite.pool import Worker, WorkerDied
from harness.suite.results import Journal, Result, Settings, Suite, save
from harness.suite.work import Work

LIMIT_S: Final = 60.0
"""How long one benchmark may take for its wall times, beyond the time it is asked for."""

COMPILE_LIMIT_S: Final = 300.0
"""The same for a model under `torch.compile`: compiling takes seconds on an idle machine, and minutes on a busy one."""

COUNT_LIMIT_S: Final = 300.0
"""The same for its counts: under valgrind all takes fifty times as long."""

NOT_COUNTED: Final = (
    "torch.compile writes machine code for this very processor, and valgrind does not know all of its instructions: "
    "compare wall times"
)
"""Why a model under `torch.compile` has no counts."""

MESSAGE_LENGTH: Final = 300
"""Characters that are kept of what went wrong with a benchmark."""

Watch = Callable[[str, int, int], None]
"""Told what is under way, how many benchmarks that concerns, and how many more of them are settled."""


def _nobody(_what: str, _total: int, _more: int) -> None:
    """Tell nobody."""


class Run:
    """One run: `works` under `settings`, kept in `journal`. `jobs` workers at most, by default one a core."""

    def __init__(
        self,
        works: Sequence[Work],
        settings: Settings,
        journal: Journal,
        *,
        jobs: int | None = None,
        watch: Watch = _nobody,
    ) -> None:
        self._works, self._settings, self._journal, self._watch = works, settings, journal, watch
        self._jobs = jobs or os.cpu_count() or 1
        self._lock = threading.Lock()

    def go(self, *, count: bool = True, recount: bool = False) -> Suite:
        """Measure what the journal does not have yet, and return everything; `recount` asks no cache for counts."""
        self._journal.begin()
        for work in self._works:
            if not self._result(work).times_s and (missing := lacking(work)):
                self._keep(work, left_out=missing)
        if no_compiler := tools.lacking_compiler():
            self._fail_all((work for work in self._sound() if work.is_cpp), no_compiler)
        else:
            self._compile()
        self._time()
        if count:
            self._count(recount=recount)
        return Suite(Environment.capture(), self._settings, tuple(self._result(work) for work in self._works))

    def _result(self, work: Work) -> Result:
        return self._journal.results.get(work.key) or Result.of(work)

    def _keep(self, work: Work, **found: Any) -> None:
        for name in {"failure", "left_out", "uncounted"} & set(found):
            found[name] = " ".join(found[name].split())[:MESSAGE_LENGTH]
        with self._lock:
            self._journal.keep(replace(self._result(work), **found))

    def _fail_all(self, works: Iterable[Work], why: str) -> None:
        for work in works:
            self._keep(work, failure=why)

    def _sound(self) -> list[Work]:
        """Return the benchmarks that have neither failed so far nor been left out."""
        results = {work: self._result(work) for work in self._works}
        return [work for work, result in results.items() if not result.failure and not result.left_out]

    def _compile(self) -> None:
        wanted = [work for work in self._sound() if work.is_cpp and not self._result(work).complete]
        for work, why in cpp.build(wanted, self._jobs, self._progress("compiling C++", len(wanted))).items():
            self._keep(work, failure=why)

    def _time(self) -> None:
        def serve(worker: Worker, work: Work, cores: Sequence[int]) -> None:
            limit_s = COMPILE_LIMIT_S if work.args.compiled else LIMIT_S
            answer = worker.ask(self._request(work), limit_s + 2 * self._settings.min_run_time_s)
            kept = {name: answer[name] for name in ("times_s", "runs_per_sample", "failure") if name in answer}
            kept["times_s"] = tuple(kept.get("times_s", ()))
            self._keep(work, cores=tuple(cores), **kept)
            done(1)

        wanted = [work for work in self._sound() if not self._result(work).times_s]
        done = self._progress("taking wall times", len(wanted))
        pool.serve_all("time", _by_threads(wanted), self._jobs, serve, self._failed("failure", done))

    def _count(self, *, recount: bool) -> None:
        def serve(worker: Worker, work: Work, _cores: Sequence[int]) -> None:
            answer = worker.ask(self._request(work), COUNT_LIMIT_S)
            if "failure" in answer:
                self._keep(work, uncounted=answer["failure"])
            else:
                try:
                    found = counts.read(worker.profiles(answer))
                except (OSError, ProfileError) as error:
                    raise WorkerDied(f"left no count behind: {error}") from error
                counts.keep(work, self._settings, found)
                self._keep(work, instructions=found, number=self._settings.number, cached=False, uncounted="")
            done(1)

        for work in self._sound():
            if work.args.compiled:
                self._keep(work, uncounted=NOT_COUNTED)
        wanted = [work for work in self._sound() if not self._result(work).instructions and not work.args.compiled]
        if not recount:
            wanted = [work for work in wanted if not self._from_cache(work)]
        if missing := tools.lacking():
            for work in wanted:
                self._keep(work, uncounted=missing)
            return
        done = self._progress("counting instructions", len(wanted))
        # One core will do for all: valgrind runs one thread at a time, and a count is the same wherever it is taken.
        pool.serve_all("count", {1: wanted} if wanted else {}, self._jobs, serve, self._failed("uncounted", done))

    def _from_cache(self, work: Work) -> bool:
        found = counts.kept(work, self._settings)
        if found is not None:
            self._keep(work, instructions=found, number=self._settings.number, cached=True, uncounted="")
        return found is not None

    def _request(self, work: Work) -> dict[str, Any]:
        compiled = {"library": str(cpp.library_of(work)), "function": cpp.name_of(work)} if work.is_cpp else {}
        return {"library": "", **asdict(self._settings), **work.code, **compiled}

    def _failed(self, field: str, done: Callable[[int], None]) -> Callable[[Work, str], None]:
        def keep(work: Work, why: str) -> None:
            self._keep(work, **{field: why})
            done(1)

        return keep

    def _progress(self, what: str, total: int) -> Callable[[int], None]:
        self._watch(what, total, 0)
        return lambda more: self._watch(what, total, more)


def lacking(work: Work) -> str:
    """Return what this torch, Python or machine lacks for a benchmark, or ""."""
    if work.args.scripted and not torchscript_support().runs:
        return torchscript_support().reason
    return cannot_compile() if work.args.compiled else ""


def measure(
    works: Sequence[Work],
    out: Path,
    settings: Settings,
    *,
    fresh: bool = False,
    count: bool = True,
    recount: bool = False,
    jobs: int | None = None,
    watch: Watch = _nobody,
) -> Suite:
    """Run the suite and write `out`; what `out` or a killed run before it has measured already is not measured again.

    `fresh` forgets all of that.
    """
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    journal = Journal(out, Environment.capture(), settings)
    if not fresh:
        journal.resume(out)
    suite = Run(works, settings, journal, jobs=jobs, watch=watch).go(count=count, recount=recount)
    save(suite, out)
    journal.close()
    return suite


def _by_threads(works: Iterable[Work]) -> dict[int, list[Work]]:
    groups: dict[int, list[Work]] = {}
    for work in works:
        groups.setdefault(work.args.num_threads, []).append(work)
    return groups
