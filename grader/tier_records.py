"""The ratios of all known submissions as one machine measured them, kept in `tests/records`, one JSON file each.

`python -m grader lint --record` writes such a file. A test reads all of them and checks that today's tiers give every
known submission the tier of its name on every machine on record. It measures nothing, so it holds on any machine.

A row carries a digest of what was measured: the submission, the baseline, and the task's code that draws the inputs.
When one of these changes, the row is out of date and the test no longer counts it. Tiers, hints and docstrings are not
part of the digest, because they do not change a ratio.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from grader import catalogue, tier_margins
from grader.files import explained, write_atomically
from grader.task import Task
from harness.environment import Environment, version_of
from harness.units import percent

FOLDER: Final = catalogue.KIT / "tests" / "records"

_MEASURED: Final = frozenset({"cost", "exam", "limits"})
"""The arguments of `Task(…)` that change what is measured."""

_NOT_COUNTED: Final = frozenset({"timed_draws"})
"""Arguments that leave every count as it is."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where ratios were measured. `busy_cores` is how many cores other programs kept busy meanwhile, as a whole number.

    `versions` are those of the programs and packages that a ratio may depend on.
    """

    cpu: str
    cores: int
    system: str
    versions: tuple[tuple[str, str], ...]
    busy_cores: int

    @classmethod
    def this(cls, busy_cores: float) -> "Machine":
        """Describe the machine this runs on."""
        here = Environment.capture(ask_cuda=False)
        family = "".join(f" {name} {value}" for name, value in _cpu_numbers())
        packages = {name: version_of(name) for name in ("numpy", "numba")}
        versions = {"python": here.python, "torch": here.torch, **packages, "libc": here.libc}
        return cls(
            here.cpu + family, here.cores, f"{here.os} {here.machine}", tuple(versions.items()), round(busy_cores)
        )

    @property
    def name(self) -> str:
        """A file name: `amd-epyc-2-cores-python-3.11-torch-2.13-quiet`. Patch releases share one."""
        versions = dict(self.versions)
        python, torch = (".".join(versions[name].split(".")[:2]) for name in ("python", "torch"))
        load = f"{self.busy_cores}-busy" if self.busy_cores else "quiet"
        text = f"{self.cpu} {self.cores} cores python {python} torch {torch} {load}"
        return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Row:
    """One known submission: its ratio to the baseline, the interval around it, and a digest of what was measured.

    `name` is its file's, without the tier: evidence stays good when a tier moves.
    """

    task: str
    name: str
    ratio: float
    low: float
    high: float
    measured: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """All ratios of one machine."""

    machine: Machine
    rows: tuple[Row, ...]


def record(machine: Machine, rows: Iterable[Row], folder: Path = FOLDER) -> Path:
    """Write the rows to the machine's file; rows of other submissions stay in it. Return the file.

    Raises `WriteError` when it cannot be written; the older file is there still.
    """
    file = folder / f"{machine.name}.json"
    today = datetime.now(UTC).date().isoformat()
    old = {(row.task, row.name): row for row in read(file).rows} if file.is_file() else {}
    new = {(row.task, row.name): replace(row, date=today) for row in rows}
    lines = [json.dumps(asdict(row), ensure_ascii=False) for _, row in sorted({**old, **new}.items())]
    head = json.dumps({**asdict(machine), "versions": dict(machine.versions)}, ensure_ascii=False)
    with explained(file):
        folder.mkdir(parents=True, exist_ok=True)
    text = f'{{"machine": {head}, "rows": [\n' + ",\n".join(lines) + "\n]}\n"
    write_atomically(file, text.encode())
    return file


def read(file: Path) -> Record:
    """Return the record in a file that `record` wrote."""
    held: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    machine = {**held["machine"], "versions": tuple(held["machine"]["versions"].items())}
    return Record(Machine(**machine), tuple(Row(**row) for row in held["rows"]))


def read_all(folder: Path = FOLDER) -> Iterator[Record]:
    """Yield every record of a folder, in the order of their names."""
    for file in sorted(folder.glob("*.json")):
        yield read(file)


def known(task: Task) -> dict[str, Path]:
    """Return the right submissions of a task by the name that a row has: those in `known/` and the solution.

    The baselines of single sizes are left out: each does the work of `baseline.py` at its size.
    """
    right = [path for path in sorted(task.known.glob("*.py")) if not path.stem.startswith(("wrong_", "baseline_"))]
    return {**{row_name(path.stem): path for path in right}, "solution": catalogue.solution(task.lesson)}


def row_name(stem: str) -> str:
    """Return a known submission's name without its tier: `tier2_blocks` → `blocks`."""
    return re.sub(r"^tier\d_", "", stem)


def objections(held: Record) -> Iterator[str]:
    """Yield a sentence for each row that today's tiers do not suit; out-of-date rows are left out."""
    for task in catalogue.all_tasks():
        paths = known(task)
        for row in held.rows:
            if row.task != task.full_name or row.name not in paths or row.measured != measured(task, paths[row.name]):
                continue
            if fault := objection(task, paths[row.name].stem, row.ratio):
                yield f"{held.machine.name}: {task.full_name}, {row.name}: {fault}"


def objection(task: Task, stem: str, ratio: float) -> str:
    """Say what is wrong with the tiers for a ratio that the file `stem` once had; "" when nothing is."""
    named = re.match(r"tier(\d)_", stem)
    expected = int(named[1]) if named else 0 if stem == "baseline" else len(task.tiers)
    if (reached := tier_margins.tier_of(ratio, task.tiers)) != expected:
        return f"{ratio:g}× reaches tier {reached}, its name says {expected}"
    least = tier_margins.LEAST_ON_RECORD[task.cost]
    if (away := tier_margins.distance(ratio, task.tiers)) < least:
        return f"{ratio:g}× is {percent(away)} from a tier, less than {percent(least)}"
    return ""


@cache
def measured(task: Task, path: Path) -> str:
    """Return a digest of what the ratio of the submission at `path` is made of; the same on every Python version."""
    data = [each for each in sorted(task.folder.iterdir()) if each.is_file() and each.suffix != ".py"]
    digest = hashlib.sha256()
    for file in (*sorted(_modules(task.folder / f"{task.name}.py")), task.known / "baseline.py", path):
        digest.update(_meaning(ast.parse(file.read_text(encoding="utf-8"))).encode())
    for file in data:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _modules(file: Path) -> set[Path]:
    """Return a module of a task's folder with those beside it that it imports, and those that they import."""
    found, waiting = set[Path](), [file]
    while waiting:
        if (file := waiting.pop()) in found:
            continue
        found.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [each.name for each in node.names]
                waiting += [file.with_name(f"{name}.py") for name in names]
    return found


def _meaning(node: object) -> str:
    """Write a syntax tree as text without positions, docstrings, empty fields, and a task's words and tiers.

    `ast.dump` and `ast.unparse` differ between Python versions, and newer ones add fields that are empty or 0.
    """
    if isinstance(node, list):
        return f"[{','.join(map(_meaning, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.Call):
        fields["keywords"] = [each for each in node.keywords if each.arg not in _NOT_COUNTED]
    fields = {name: value for name, value in fields.items() if value not in (None, [], 0)}
    if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
        fields["body"] = [each for each in node.body if not _is_text(each)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task":
        fields["keywords"] = [each for each in node.keywords if each.arg in _MEASURED]
    return f"{type(node).__name__}({','.join(f'{name}={_meaning(value)}' for name, value in fields.items())})"


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text alone: a docstring, or one below a constant."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _cpu_numbers() -> Iterator[tuple[str, str]]:
    """Yield family and model of an x86 processor: under a hypervisor many share one name. Nothing elsewhere."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.exists() else ""
    for key, name in (("cpu family", "family"), ("model", "model")):
        if found := re.search(rf"^{key}\s*:\s*(\d+)$", text, re.MULTILINE):
            yield name, found[1]
