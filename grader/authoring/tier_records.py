"""Store how fast each known submission was on each machine, in `tests/records`, and check the tiers against it.

A known submission is an example with an expected grade. Its file name states the tier (a ratio of costs) that it must
reach on every machine. `python -m grader lint --record` writes one JSON file per machine. A test checks the present
tiers with all files, without measuring anything. Each row has a digest of the measured code: the submission, the
baseline, and the code that makes the inputs. If this code changes, nothing is compared with the row. Tiers, hints and
docstrings are not part of the digest, because they do not change a ratio.

No task needs a record: `lint` proves a truth table on one machine. Records of further machines are additional evidence.
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

from grader import catalogue, overlays, paths
from grader.authoring import tier_margins
from grader.files import explained, write_atomically
from grader.task import Task, tier_of
from harness import syntax
from harness.machine.environment import Environment, version_of
from harness.rendering.units import percent

FOLDER: Final = paths.KIT / "tests" / "records"

_MEASURED: Final = frozenset({"cost", "exam", "limits"})
"""The arguments of `Task(…)` that may change a measured ratio."""

_NOT_COUNTED: Final = frozenset({"timed_draws", "operations", "large", "best_ratio"})
"""Arguments of an exam (the rules for judging and measuring a task) that do not change any ratio.

A function of a task's module with such a name does not change any ratio either.
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine on which ratios were measured.

    `busy_cores` is the rounded number of cores that other programs kept busy. `versions` are the versions of the
    programs and packages that may change a ratio.
    """

    cpu: str
    cores: int
    system: str
    versions: tuple[tuple[str, str], ...]
    busy_cores: int

    @classmethod
    def this(cls, busy_cores: float) -> "Machine":
        """Return the description of this machine. `busy_cores` is the number of cores that other programs keep busy."""
        here = Environment.capture(ask_cuda=False)
        family = "".join(f" {name} {value}" for name, value in _cpu_numbers())
        packages = {name: version_of(name) for name in ("numpy", "numba")}
        versions = {"python": here.python, "torch": here.torch, **packages, "libc": here.libc}
        return cls(
            here.cpu + family, here.cores, f"{here.os} {here.machine}", tuple(versions.items()), round(busy_cores)
        )

    @property
    def name(self) -> str:
        """The name of the machine's file: `amd-epyc-2-cores-python-3.11-torch-2.13-quiet`, without patch versions."""
        versions = dict(self.versions)
        python, torch = (".".join(versions[name].split(".")[:2]) for name in ("python", "torch"))
        load = f"{self.busy_cores}-busy" if self.busy_cores else "quiet"
        text = f"{self.cpu} {self.cores} cores python {python} torch {torch} {load}"
        return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Row:
    """The measured ratio of one example submission, its confidence interval, and a digest of the measured code.

    `name` is the submission's file name without the expected tier, so that the row stays valid if the tiers change.
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
    """All stored ratios of one machine."""

    machine: Machine
    rows: tuple[Row, ...]


def record(machine: Machine, rows: Iterable[Row], folder: Path = FOLDER) -> Path:
    """Store measured ratios in the machine's file, and return the file's path. Rows of other submissions are kept.

    Raise `WriteError` if the file cannot be written. The old file is then unchanged.
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
    """Return the stored ratios from a file that `record` has written."""
    held: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    machine = {**held["machine"], "versions": tuple(held["machine"]["versions"].items())}
    return Record(Machine(**machine), tuple(Row(**row) for row in held["rows"]))


def read_all(folder: Path = FOLDER) -> Iterator[Record]:
    """Yield the stored ratios of each machine from the files in `folder`, sorted by file name."""
    for file in sorted(folder.glob("*.json")):
        yield read(file)


def right_submissions(task: Task) -> dict[str, Path]:
    """Return the files of a task's solution and right example submissions, by their names in the records.

    Baselines for one input size are left out, because at this size each of them does the same work as `baseline.py`.
    """
    right = [path for path in sorted(task.known.glob("*.py")) if not path.stem.startswith(("wrong_", "baseline_"))]
    return {**{row_name(path.stem): path for path in right}, "solution": paths.solution(task.lesson)}


def row_name(stem: str) -> str:
    """Return a file name without the expected grade: `blocks` for `tier2_blocks`."""
    return re.sub(r"^tier\d_", "", stem)


def current(task: Task, held: Record) -> Iterator[tuple[Row, Path]]:
    """Yield the stored ratios of a task's present code on one machine, each with the file of its submission.

    Ratios of older code are left out.
    """
    files = right_submissions(task)
    for row in held.rows:
        path = files.get(row.name) if row.task == task.full_name else None
        if path and row.measured == measured_digest(task, path):
            yield row, path


def tier_faults(held: Record) -> Iterator[str]:
    """Yield a sentence for each stored ratio of present code that misses its expected grade threshold."""
    for task in catalogue.all_tasks():
        for row, path in current(task, held):
            if fault := tier_fault(task, path.stem, row.ratio):
                yield f"{held.machine.name}: {task.full_name}, {row.name}: {fault}"


def tier_named(task: Task, stem: str) -> int:
    """Return the tier that the file name of a right submission states. The solution has the top tier."""
    named = re.match(r"tier(\d)_", stem)
    return int(named[1]) if named else 0 if stem == "baseline" else len(task.tiers)


def tier_fault(task: Task, stem: str, ratio: float) -> str:
    """Return why the ratio of the example submission `stem` does not earn the expected grade, or "" if it does."""
    expected = tier_named(task, stem)
    if (reached := tier_of(ratio, task.tiers)) != expected:
        return f"{ratio:g}× reaches tier {reached}, but the file's name states tier {expected}"
    least = tier_margins.MIN_DISTANCE[task.cost]
    if (away := tier_margins.distance(ratio, task.tiers)) < least:
        return f"{ratio:g}× is {percent(away)} from the nearest tier, less than {percent(least)}"
    return ""


@cache
def measured_digest(task: Task, path: Path) -> str:
    """Return a digest of all code and data that may change the ratio of the submission at `path`.

    The digest is the same on every version of Python.
    """
    data = [each for each in sorted(task.folder.iterdir()) if each.is_file() and each.suffix != ".py"]
    digest = hashlib.sha256()
    modules = [file.read_text(encoding="utf-8") for file in sorted(_modules(task.folder / f"{task.name}.py"))]
    for source in (*modules, overlays.whole(task.known / "baseline.py"), overlays.whole(path)):
        digest.update(_meaning(syntax.parse(source)).encode())
    for file in data:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _modules(file: Path) -> set[Path]:
    """Return a module's file and the files of the same folder that it imports, directly or indirectly."""
    found, waiting = set[Path](), [file]
    while waiting:
        if (file := waiting.pop()) in found:
            continue
        found.add(file)
        for node in ast.walk(syntax.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [each.name for each in node.names]
                waiting += [file.with_name(f"{name}.py") for name in names]
    return found


def _meaning(node: object) -> str:
    """Return a syntax tree as text, without the parts that cannot change a measured ratio.

    `ast.dump` and `ast.unparse` are not used, because their results differ between versions of Python. Newer versions
    add fields that are empty or 0.
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
        fields["body"] = [each for each in node.body if not (_is_text(each) or _is_not_counted(each))]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task":
        fields["keywords"] = [each for each in node.keywords if each.arg in _MEASURED]
    return f"{type(node).__name__}({','.join(f'{name}={_meaning(value)}' for name, value in fields.items())})"


def _is_not_counted(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name in _NOT_COUNTED


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _cpu_numbers() -> Iterator[tuple[str, str]]:
    """Yield the family and model of an x86 processor. Hypervisors give many different processors the same name."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.exists() else ""
    for key, name in (("cpu family", "family"), ("model", "model")):
        if found := re.search(rf"^{key}\s*:\s*(\d+)$", text, re.MULTILINE):
            yield name, found[1]
