"""`python -m harness.suite`: run a file of definitions, list it, compare two runs."""

import fnmatch
import importlib.util
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness import units
from harness.command import guarded
from harness.compilers import torchscript_support
from harness.errors import UsageError
from harness.overwriting import refuse_edited
from harness.suite import results
from harness.suite.api import RuntimeMode
from harness.suite.compare import Comparison, titled
from harness.suite.expand import materialize
from harness.suite.results import Settings, Suite
from harness.suite.runner import measure
from harness.suite.utils import flatten
from harness.suite.work import Work
from harness.tables import Table

NAME: Final = "python -m harness.suite"
DEFAULT: Final = Path(__file__).parent / "definitions" / "standard.py"
SOME_FAILED: Final = 1


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    if arguments[:1] == ["compare"]:
        return guarded(_comparing, f"{NAME} compare", arguments[1:])
    return guarded(_running, NAME, arguments)


_running, _comparing = (typer.Typer(add_completion=False, pretty_exceptions_enable=False) for _ in range(2))


@_running.command(epilog="compare A.json B.json sets two runs side by side.")
def run(
    definitions: Annotated[Path, typer.Argument(help="A Python file with BENCHMARKS.")] = DEFAULT,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write; run again to go on where it stopped.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Benchmarks whose name has this in it, or fits it (*).")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Workers at a time; one a core unless told.")] = None,
    no_counts: Annotated[bool, typer.Option("--no-counts", help="Wall times alone.")] = False,
    recount: Annotated[bool, typer.Option("--recount", help="Count anew what an earlier run has counted.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, and forget what --out holds.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is not a suite's.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the benchmarks and measure nothing.")] = False,
    min_run_time: Annotated[float, typer.Option(min=0.001, help="Seconds of wall time for each benchmark.")] = 0.5,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,  # noqa: ARG001 - `guarded` reads it
) -> int:
    """Measure benchmarks: wall times and instruction counts, eager and compiled, Python and C++."""
    works = chosen(works_of(definitions), only or [])
    if list_:
        print("\n".join(work.title for work in works))
        return 0
    if out is None:
        raise UsageError("Name the file to write: --out FILE.json, or ask for --list.")
    if fresh:  # otherwise the file is read, and what is not a suite's is an error there
        refuse_edited(out, force=force, is_ours=results.is_suite)
    with _Bar() as bar:
        suite = measure(
            works,
            out,
            Settings(min_run_time_s=min_run_time),
            fresh=fresh,
            count=not no_counts,
            recount=recount,
            jobs=jobs,
            watch=bar.told,
        )
    return _show(suite, out)


@_comparing.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json")],
    second: Annotated[Path, typer.Argument(metavar="B.json")],
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,  # noqa: ARG001 - `guarded` reads it
) -> int:
    """Set two runs side by side: B against A."""
    found = Comparison.of(results.load(first), results.load(second))
    print(f"{found.table().to_text()}\n\n{found.summary()}")
    return 0


def works_of(definitions: Path) -> tuple[Work, ...]:
    """The benchmarks of a file of definitions. What the file itself raises is told as a `UsageError`."""
    if not definitions.is_file():
        raise UsageError(f"There is no file {definitions}; name one that defines BENCHMARKS.")
    spec = importlib.util.spec_from_file_location("definitions_of_the_suite", definitions)
    if spec is None or spec.loader is None:
        raise UsageError(f"{definitions} is no Python file; name one that defines BENCHMARKS.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{definitions} cannot be read: {type(error).__name__}: {error}") from error
    if not hasattr(module, "BENCHMARKS"):
        raise UsageError(f"{definitions} does not define BENCHMARKS, a dict of benchmarks by name.")
    return Work.all_of(materialize(flatten(module.BENCHMARKS)))


def chosen(works: Sequence[Work], patterns: Sequence[str]) -> tuple[Work, ...]:
    """Those whose title has one of the patterns in it. Raises `UsageError` when nothing is left."""
    kept = tuple(
        work for work in works if not patterns or any(fnmatch.fnmatchcase(work.title, f"*{each}*") for each in patterns)
    )
    if not kept:
        raise UsageError(f"No benchmark fits {', '.join(patterns) or 'an empty definition'}; --list shows their names.")
    return kept


def _show(suite: Suite, out: Path) -> int:
    rows = [(*titled(each), each.median_s, each.instructions_per_run) for each in suite.results]
    heads = {"benchmark": None, "kind": None, "time": units.seconds, "instructions": units.count}
    print(Table.of("", heads, rows).to_text())
    failed = [result for result in suite.results if result.failure]
    left_out = [result for result in suite.results if result.left_out]
    uncounted = [result for result in suite.results if result.uncounted and not result.failure]
    for result in failed:
        print(f"{' · '.join(titled(result))}: {result.failure}", file=sys.stderr)
    _summed_up("Left out", [result.left_out for result in left_out])
    _summed_up("Not counted", [result.uncounted for result in uncounted])
    if any(result.runtime == RuntimeMode.JIT.value and result.times_s for result in suite.results):
        _summed_up("Measured all the same", [reason] if (reason := torchscript_support().reason) else [])
    without = f", {len(left_out)} left out" if left_out else ""
    measured = units.some(len(suite.results) - len(failed) - len(left_out), "benchmark")
    print(f"\n{measured} measured, {len(failed)} failed{without}: {out}")
    return SOME_FAILED if failed else 0


def _summed_up(what: str, reasons: Sequence[str]) -> None:
    """Print each reason once, with the number of benchmarks that it is for."""
    for reason, number in Counter(reasons).items():
        print(f"{what} ({number}): {reason}", file=sys.stderr)


class _Bar:
    """A bar on a terminal that says what the wait is for; nothing elsewhere."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._tasks: dict[str, object] = {}

    def told(self, what: str, total: int, more: int) -> None:
        """Show one phase of a run."""
        if total and what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        if total:
            self._bar.advance(self._tasks[what], more)  # type: ignore[arg-type]  # a task's number, which rich has given

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
