"""What pytest shows, selects and exits with under `--duel`. The measurements themselves are replaced by known ones."""

import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from git_projects import commit, git, write

from harness.gate import controller, plugin
from harness.gate.outcomes import BenchmarkOutcome, Change, GateControl, GateRun, GateVerdict
from harness.gate.settings import GateBenchmark, GateSettings, GateSide
from harness.processes.launcher import KIT

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.program("git")

TESTS = """
import pytest

def test_fixture(benchmark): ...

@pytest.mark.duel(allow=0.2)
def test_marked(): ...

def test_plain():
    raise ZeroDivisionError
"""
VERDICTS = {"test_fixture": GateVerdict.SAME, "test_marked": GateVerdict.SAME}
Start = Callable[..., pytest.RunResult]


class Measured:
    """Stands for the measurements: each benchmark has the verdict that `verdicts` has for it."""

    def __init__(self) -> None:
        self.verdicts, self.is_void = dict(VERDICTS), False
        self.benchmarks: Sequence[GateBenchmark] = ()
        self.files = set[str]()
        self.error: BaseException | None = None

    def __call__(
        self,
        benchmarks: Sequence[GateBenchmark],
        sides: tuple[GateSide, GateSide],
        settings: GateSettings,
        report: Callable[[BenchmarkOutcome], None],
    ) -> GateRun:
        self.benchmarks, self.sides, self.settings = benchmarks, sides, settings
        self.files = {str(each.relative_to(sides[0].root)) for each in sides[0].root.rglob("*.py")}
        if self.error:
            raise self.error
        found = []
        for one in benchmarks:
            verdict = self.verdicts[one.name.rpartition("::")[2]]
            found.append(BenchmarkOutcome(one.name, verdict, Change(0.3, 0.2, 0.4), 1e-6, 1.3e-6, why="It is known."))
            report(found[-1])
        control = GateControl("x", Change(0.1, 0.05, 0.2), failed=self.is_void)
        shown = (settings.shadow, settings.strict)
        return GateRun(settings.base, "", 0.01, settings.cost, found, (control,), datetime.now(UTC), 1.0, "", *shown)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    made = Measured()
    monkeypatch.setattr(controller, "measure", made)
    return made


@pytest.fixture
def start(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, measured: Measured) -> Start:
    """Return a function that runs pytest with the plug-in, in a project whose only commit has the tag `v1`."""
    assert not measured.benchmarks
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(KIT))
    commit(pytester.path, {"tests/test_benchmarks.py": TESTS, "module.py": ""})
    git(pytester.path, "tag", "v1")
    return lambda *options: pytester.runpytest_inprocess("-p", "harness.gate.plugin", *options)


def test_only_benchmarks_are_measured_and_no_test_runs(start: Start, measured: Measured) -> None:
    done = start("--duel", "v1")
    done.assert_outcomes(passed=2, deselected=1)
    assert done.ret == 0
    names = [one.name for one in measured.benchmarks]
    assert names == ["tests/test_benchmarks.py::test_fixture", "tests/test_benchmarks.py::test_marked"]
    assert [one.allowed for one in measured.benchmarks] == [0.01, 0.2]
    assert [side.arguments[-1] for side in measured.sides] == ["tests/test_benchmarks.py"] * 2


def test_without_the_option_the_tests_run_as_always(start: Start, measured: Measured) -> None:
    start("--strict-markers", "-k", "marked or plain").assert_outcomes(passed=1, failed=1, deselected=1)
    assert not measured.benchmarks


@pytest.mark.parametrize(
    ("verdict", "options", "code", "result"),
    [
        (GateVerdict.SLOWER, [], 1, "failed"),
        (GateVerdict.SLOWER, ["--duel-shadow"], 0, "passed"),
        (GateVerdict.BROKEN, [], 1, "failed"),
        (GateVerdict.FASTER, [], 0, "passed"),
        (GateVerdict.UNDECIDED, [], 0, "passed"),
        (GateVerdict.UNDECIDED, ["--duel-strict"], 1, "failed"),
        (GateVerdict.NEW, [], 0, "skipped"),
        (GateVerdict.FAILED, [], 0, "skipped"),
        (GateVerdict.SKIPPED, [], 0, "skipped"),
    ],
)
def test_only_red_outcomes_fail(
    start: Start, measured: Measured, verdict: GateVerdict, options: list[str], code: int, result: str
) -> None:
    measured.verdicts["test_fixture"] = verdict
    done = start("--duel", "v1", *options)
    assert done.ret == code
    assert done.parseoutcomes()[result] == (2 if result == "passed" else 1)


def test_a_void_run_is_not_red(start: Start, measured: Measured) -> None:
    measured.verdicts["test_fixture"], measured.is_void = GateVerdict.SLOWER, True
    assert start("--duel", "v1").ret == 0


def test_the_header_says_what_is_compared(start: Start, pytester: pytest.Pytester) -> None:
    first = git(pytester.path, "rev-parse", "HEAD")[:12]
    start("--duel", "v1", "-p", "no:cacheprovider").stdout.fnmatch_lines([f"duel: {first} against v1 ({first})"])
    write(pytester.path, {"module.py": "x = 1\n"})
    start("--duel", "v1").stdout.fnmatch_lines([f"duel: {first} with uncommitted changes against v1 ({first})"])


def test_a_cost_that_the_machine_cannot_count_is_refused_at_once(
    start: Start, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        controller, "lacking", lambda cost: "valgrind is missing: install it" * (cost == "instructions")
    )
    done = start("--duel", "v1", "--duel-cost", "instructions")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --duel-cost instructions is not possible: valgrind is missing: install it"])
    assert start("--duel", "v1", "--duel-cost", "memory").ret == 0
    assert measured.settings.cost is controller.GateCost.MEMORY


def test_options_become_settings(start: Start, measured: Measured) -> None:
    start("--duel", "v1", "--duel-allow", "3%", "--duel-limit", "2.5", "--duel-cost", "wall", "--duel-strict")
    assert measured.settings == GateSettings("v1", 0.03, 2.5, controller.GateCost.WALL, strict=True)
    start("--duel", "v1", "--duel-allow", "0.5%")
    assert measured.settings == GateSettings("v1", 0.005, 20.0), "a smaller change needs more time"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--duel", "nothing"], "no branch, tag or commit 'nothing'"),
        (["--duel", "v1", "--duel-allow", "much"], "--duel-allow much is not valid"),
        (["--duel", "v1", "--duel-allow", "0%"], "--duel-allow 0% is not valid"),
        (["--duel", "v1", "--duel-limit", "nan"], "--duel-limit nan is not valid"),
        (["--duel", "v1", "--duel-cost", "joules"], "Use one of: cpu, wall, instructions, memory"),
        (["--duel", "v1", "-k", "plain"], "There is no benchmark to compare"),
        (["--duel", "v1", "--duel-json", "module.py/out.json"], "out.json could not be written"),
    ],
)
def test_wrong_input_is_one_sentence(start: Start, options: list[str], why: str) -> None:
    done = start(*options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in (*done.errlines, *done.outlines) if line.startswith("ERROR:")]
    assert why in line


def test_a_test_that_cannot_be_imported_ends_the_run_as_always(
    start: Start, measured: Measured, pytester: pytest.Pytester
) -> None:
    write(pytester.path, {"tests/test_wrong.py": "import no_such_module\n"})
    assert start("--duel", "v1").ret == pytest.ExitCode.INTERRUPTED
    assert not measured.benchmarks


def test_nothing_is_left_after_an_interruption(start: Start, measured: Measured, pytester: pytest.Pytester) -> None:
    measured.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        start("--duel", "v1")
    assert len(git(pytester.path, "worktree", "list").splitlines()) == 1
    assert not measured.sides[0].root.exists()


def test_the_benchmarks_of_asv_are_measured_on_request(
    start: Start, measured: Measured, pytester: pytest.Pytester
) -> None:
    write(pytester.path, {"asv/helper.py": "", "asv/speed.py": "def time_sum(): sum([1, 2])\n"})
    measured.verdicts["time_sum"] = GateVerdict.SAME
    start("--duel", "v1", "--duel-asv", "asv", "tests").assert_outcomes(passed=3, deselected=1)
    assert "asv/speed.py::time_sum" in [one.name for one in measured.benchmarks]
    assert ("--duel-asv", "asv") in zip(measured.sides[0].arguments, measured.sides[0].arguments[1:], strict=False)
    assert {"asv/helper.py", "asv/speed.py"} <= measured.files
    start("--duel", "v1", "--duel-asv", "asv").assert_outcomes(passed=3, deselected=1)


def test_the_benchmarks_can_be_listed(start: Start, measured: Measured) -> None:
    done = start("--duel", "v1", "--collect-only", "-q")
    assert done.outlines[:2] == ["tests/test_benchmarks.py::test_fixture", "tests/test_benchmarks.py::test_marked"]
    assert not measured.benchmarks


def test_the_files_have_the_outcomes(start: Start, measured: Measured, pytester: pytest.Pytester) -> None:
    measured.verdicts["test_marked"] = GateVerdict.SLOWER
    start("--duel", "v1", "--duel-json", "out/duel.json", "--duel-html", "duel.html", "--junit-xml", "junit.xml")
    assert '"verdict": "slower"' in (pytester.path / "out/duel.json").read_text()
    assert "test_marked" in (pytester.path / "duel.html").read_text()
    assert 'name="duel_verdict" value="slower"' in (pytester.path / "junit.xml").read_text()


def test_processes_of_xdist_are_not_used(start: Start) -> None:
    done = start("-p", "xdist", "-n", "2", "--duel", "v1")
    done.assert_outcomes(passed=2, deselected=1)
    done.stdout.fnmatch_lines(["duel: -n is not used*"])


@pytest.mark.parametrize("file", ["README.md", "github_workflow.yml"])
def test_the_documents_name_no_option_that_does_not_exist(file: str) -> None:
    known = {name for name, *_ in (*plugin._OPTIONS, *plugin._FLAGS)}
    named = set(re.findall(r"--duel[\w-]*", (KIT / "harness" / "gate" / file).read_text(encoding="utf-8")))
    assert named <= known
    assert file != "README.md" or named == known


def test_other_starts_of_pytest_load_no_module_of_the_gate(pytester: pytest.Pytester) -> None:
    script = "import pytest, sys, harness.gate.plugin; print(*(name for name in sys.modules if 'harness' in name))"
    done = pytester.run(sys.executable, "-c", script)
    assert done.outlines[0].split() == ["harness", "harness.gate", "harness.gate.plugin"]
