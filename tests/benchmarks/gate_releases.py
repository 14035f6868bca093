"""Compare two releases of packages whose release notes claim a speed-up, with `pytest --duel` and the older wheel.

    python tests/benchmarks/gate_releases.py --environment DIR       # some minutes; needs PyPI

The working tree is the unpacked newer release, with a benchmark for each claim, and with the package's own benchmarks
if it ships some for pytest. BASE is the wheel of the older release. As a check, each package is also compared with
itself: then no benchmark may be slower or faster.
"""

import argparse
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

from environments import GATE, environment
from gate_project import commit
from gate_real import gate, name_of
from rich.console import Console

from harness.gate import wording
from harness.gate.outcomes import GateRun
from harness.rendering.tables import Table


@dataclass(frozen=True)
class Release:
    """Two releases of a package. `claims` has a benchmark for each claim, by the words of the release notes.

    `own` is a folder of benchmarks in the newer source distribution that pytest can run, or "".
    """

    package: str
    old: str
    new: str
    setup: str
    claims: Mapping[str, str] = field(default_factory=dict)
    own: str = ""


_ATTRS: Final = """import attrs
@attrs.define
class Point:
    x: int = 1
    y: float = 2.0
    name: str = "here"
@attrs.define
class Path:
    points: list = attrs.Factory(lambda: [Point() for _ in range(20)])
    tags: dict = attrs.Factory(lambda: {"a": 1, "b": 2})
path = Path()
"""
_PACKAGING: Final = """from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
version = Version("1!2.10.3rc1.post4.dev5+local.7")
"""
_PYPARSING: Final = """import pyparsing as pp
word, number = pp.Word(pp.alphas), pp.common.integer
row = pp.Group(word("name") + pp.Suppress("=") + pp.Group(pp.DelimitedList(number))("values"))
rows, text = row[1, ...], "\\n".join(f"abc = {n}, {n + 1}, {n + 2}" for n in range(40))
sums = pp.infix_notation(number, [("*", 2, pp.OpAssoc.LEFT), ("+", 2, pp.OpAssoc.LEFT)])
"""
_MARKDOWN: Final = """import markdown
emphasis = "plain *one* `two` [three](four) <b>five</b> words. " * 40
raw = "\\n\\n".join(f"<div>block {n}</div>\\n\\nText {n}" for n in range(60))
"""
_ITERTOOLS: Final = "import more_itertools as mi\nnumbers = list(range(300))\n"
_SQL: Final = """import sqlparse
query = "SELECT a, b AS c, sum(d) FROM t JOIN u ON t.id = u.id WHERE x IN (1, 2, 3) GROUP BY a ORDER BY b; " * 8
"""

RELEASES: Final = (
    Release(
        "attrs", "25.3.0", "25.4.0", _ATTRS,
        {"asdict() by 45–260 %": "attrs.asdict(path)", "astuple() by 49–270 %": "attrs.astuple(path)"},
        own="bench",
    ),
    Release(
        "packaging", "25.0", "26.0", _PACKAGING,
        {
            "tokenizer: 3x speedup": "Requirement('requests[security] >= 2.8.1, == 2.8.* ; python_version < \"2.7\"')",
            "Version a little faster": "Version('1!2.10.3rc1.post4.dev5+local.7')",
            "Version.__str__ by about 10 %": "str(version)",
            "much faster canonicalize_name": "canonicalize_name('Some.Long__Name-of.a_Package')",
        },
    ),
    Release(
        "pyparsing", "3.3.1", "3.3.2", _PYPARSING,
        {"10–20 % overall": "rows.parse_string(text)", "the same, expressions": "sums.parse_string('1 + 2 * 3 + 4')"},
    ),
    Release("pyparsing", "3.3.2", "3.3.3", _PYPARSING, {"faster infix_notation": "sums.parse_string('1 + 2 * 3 + 4')"}),
    Release("markdown", "3.10.2", "3.11.0", _MARKDOWN, {"repeated inline patterns": "markdown.markdown(emphasis)"}),
    Release("markdown", "3.7", "3.8", _MARKDOWN, {"raw HTML post-processor": "markdown.markdown(raw)"}),
    Release(
        "more-itertools", "10.8.0", "11.0.0", _ITERTOOLS,
        {
            "difference": "list(mi.difference(numbers))",
            "substrings": "list(mi.substrings('a word of letters'))",
            "value_chain": "list(mi.value_chain(*numbers))",
            "nth_combination": "mi.nth_combination(numbers, 5, 100_000)",
            "ichunked": "[list(chunk) for chunk in mi.ichunked(numbers, 10)]",
        },
    ),
    Release("sqlparse", "0.4.4", "0.5.0", _SQL, {"optimized matching function": "sqlparse.parse(query)"}),
)  # fmt: skip


def tests(release: Release) -> str:
    """Return the source of the benchmarks of the claims."""
    statements = enumerate(release.claims.values())
    each = (f"@pytest.mark.duel\ndef test_claim_{at}():\n    {statement}\n" for at, statement in statements)
    return "\n\n".join((f"import pytest\n{release.setup}", *each))


def download(python: str, release: Release, version: str, folder: Path, *options: str) -> Path:
    """Download a release in the folder, and return its file."""
    command = [python, "-m", "pip", "download", "-q", "--no-deps", *options, "-d", str(folder)]
    subprocess.run([*command, f"{release.package}=={version}"], check=True, stderr=subprocess.DEVNULL)
    return next(folder.iterdir())


def project(python: str, release: Release, version: str, folder: Path) -> Path:
    """Make a git repository with the sources of a release, and its benchmarks."""
    made = folder / "project"
    with zipfile.ZipFile(download(python, release, version, folder / "wheel")) as wheel:
        wheel.extractall(made)  # noqa: S202 - a release that its users install
    (made / "benchmarks").mkdir()
    (made / "benchmarks" / "test_claims.py").write_text(tests(release), encoding="utf-8")
    (made / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    if release.own:
        with tarfile.open(download(python, release, version, folder / "sources", "--no-binary=:all:")) as sources:
            sources.extractall(folder / "unpacked", filter="data")
        next((folder / "unpacked").iterdir()).joinpath(release.own).rename(made / "benchmarks" / "own")
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    commit(made)
    return made


def compare(python: str, release: Release, old: str) -> GateRun:
    """Compare the newer release with the version `old`."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = project(python, release, release.new, folder)
        wheel = download(python, release, old, folder / "base")
        return gate(made, python, str(wheel))


def rows(release: Release, run: GateRun) -> Iterator[tuple[str | float, ...]]:
    """Yield a row for each benchmark of a run."""
    titles = {f"claim_{at}": claim for at, claim in enumerate(release.claims)}
    for one in run.outcomes:
        change, between = wording.changes(one.change, run.allowed) if one.change else (one.why, "")
        versions = f"{release.package} {release.old} → {release.new}"
        claim = titles.get(name_of(one), f"own: {name_of(one)}")
        cost, spent_s = wording.call_cost(run, one.base), round(one.spent_s, 1)
        yield versions, claim, one.verdict.upper(), change, between, cost, spent_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, required=True, help="a virtual environment, made if it is missing")
    parser.add_argument("--only", default="", help="the name of a package")
    options, console = parser.parse_args(), Console(width=None if sys.stdout.isatty() else 170)
    python = environment(options.environment, GATE, "pytest-benchmark")
    heads = dict.fromkeys(("releases", "claim", "verdict", "change", "interval", "a call", "seconds"))
    for release in (one for one in RELEASES if options.only in one.package):
        began_s = monotonic()
        found = compare(python, release, release.old)
        same = compare(python, release, release.new)
        console.print(Table.of(release.package, heads, list(rows(release, found))))
        spent = f"{monotonic() - began_s:.0f} s for both runs"
        console.print(f"The other run compared {release.new} with itself. {wording.headline(same)} {spent}.\n")


if __name__ == "__main__":
    main()
