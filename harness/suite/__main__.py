"""The command `python -m harness.suite`: run a file of definitions, list its benchmarks, or compare two runs."""

import fnmatch
import runpy
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import MofNCompleteColumn

from harness.command_line import complain, guarded, similar
from harness.errors import UsageError
from harness.rendering import units
from harness.rendering.tables import Table
from harness.rendering.wrapping import progress_bars
from harness.suite import results
from harness.suite.expand import Benchmark, materialize
from harness.suite.results import Suite, SuiteComparison, SuiteSettings, titled
from harness.suite.runner import measure
from harness.suite.utils import flatten

NAME: Final = "python -m harness.suite"
DEFAULT: Final = Path(__file__).with_name("standard.py")
SOME_FAILED: Final = 1


def main(arguments: Sequence[str]) -> int:
    """Run `python -m harness.suite` with these arguments, and return its exit code."""
    if arguments[:1] == ["compare"]:
        return guarded(_comparing, f"{NAME} compare", arguments[1:])
    if arguments and similar(arguments[0], ["compare"]) and not Path(arguments[0]).exists():
        return complain(f"There is no file {arguments[0]}. Did you mean {NAME} compare?", 2)
    return guarded(_running, NAME, arguments)


_running, _comparing = (typer.Typer(add_completion=False, pretty_exceptions_enable=False) for _ in range(2))


@_running.command(epilog="To compare two runs: python -m harness.suite compare A.json B.json")
def run(
    definitions: Annotated[Path, typer.Argument(help="A Python file that defines BENCHMARKS.")] = DEFAULT,
    out: Annotated[
        Path | None,
        typer.Option(help="The JSON file for the results. To continue a stopped run, run the same command again."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Measure only benchmarks whose name contains this text; * means any text.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of workers at the same time. Default: one per core.")
    ] = None,
    no_counts: Annotated[bool, typer.Option("--no-counts", help="Measure wall times only.")] = False,
    recount: Annotated[
        bool, typer.Option("--recount", help="Count instructions again; do not use the counts of earlier runs.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure everything again, and overwrite the file of --out.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the benchmarks, and do not measure them.")] = False,
    min_run_time: Annotated[float, typer.Option(min=0.001, help="Seconds of wall time per benchmark.")] = 0.5,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an internal error.")] = False,  # noqa: ARG001 - `guarded` reads it
) -> int:
    """Measure the wall times and instruction counts of benchmarks, eager and compiled, in Python and C++."""
    benchmarks = chosen(benchmarks_of(definitions), only or [])
    if list_:
        print("\n".join(benchmark.title for benchmark in benchmarks))
        return 0
    if out is None:
        raise UsageError("Name the file for the results with --out FILE.json, or list the benchmarks with --list.")
    settings, count = SuiteSettings(min_run_time_s=min_run_time), not no_counts
    with progress_bars(MofNCompleteColumn()) as bars:
        suite = measure(benchmarks, out, settings, fresh=fresh, count=count, recount=recount, jobs=jobs, bars=bars)
    return _show(suite, out)


@_comparing.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json")],
    second: Annotated[Path, typer.Argument(metavar="B.json")],
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an internal error.")] = False,  # noqa: ARG001 - `guarded` reads it
) -> int:
    """Print the changes of wall times and instruction counts from run A to run B."""
    found = SuiteComparison.of(results.load(first), results.load(second))
    print(f"{found.table().to_text()}\n\n{found.summary()}")
    return 0


def benchmarks_of(definitions: Path) -> tuple[Benchmark, ...]:
    """Return the benchmarks that a Python file defines. Raise `UsageError` if it has none or raises an exception."""
    if not definitions.is_file():
        raise UsageError(f"There is no file {definitions}; name a file that defines BENCHMARKS.")
    try:
        names = runpy.run_path(str(definitions))
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{definitions} raised {type(error).__name__}: {error}. Correct it and run again.") from error
    if "BENCHMARKS" not in names:
        raise UsageError(f"{definitions} does not define BENCHMARKS, a dict of benchmarks by name.")
    return Benchmark.all_of(materialize(flatten(names["BENCHMARKS"])))


def chosen(benchmarks: Sequence[Benchmark], patterns: Sequence[str]) -> tuple[Benchmark, ...]:
    """Return the benchmarks whose title matches a pattern. If there is no such benchmark, raise `UsageError`."""
    wanted = [f"*{each}*" for each in patterns or ("",)]
    kept = tuple(each for each in benchmarks if any(fnmatch.fnmatchcase(each.title, one) for one in wanted))
    if not kept:
        raise UsageError(f"No benchmark matches {', '.join(patterns)}; --list shows their names.")
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
    without = f", {len(left_out)} left out" if left_out else ""
    measured = units.some(len(suite.results) - len(failed) - len(left_out), "benchmark")
    print(f"\n{measured} measured, {len(failed)} failed{without}: {out}")
    return SOME_FAILED if failed else 0


def _summed_up(what: str, reasons: Sequence[str]) -> None:
    for reason, number in Counter(reasons).items():
        print(f"{what} ({number}): {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
