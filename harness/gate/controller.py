"""The hooks of `pytest --duel BASE`: pytest collects as always, and the benchmarks are measured instead of run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Literal

import pytest

from harness.errors import FairclockError, UsageError
from harness.gate import annotations, machine_readable, page, terminal, wording
from harness.gate.asv import AsvFiles
from harness.gate.base import Repository, find_base
from harness.gate.counting import lacking
from harness.gate.measuring import measure
from harness.gate.outcomes import BenchmarkOutcome, GateRun, GateVerdict
from harness.gate.settings import ALLOWED, LIMIT_S, GateBenchmark, GateCost, GateSettings, number
from harness.gate.timed_calls import is_benchmark, marker_settings
from harness.gate.trees import Project, source_trees
from harness.gate.worker_options import worker_options

_NOT_MEASURED: Final = {GateVerdict.NEW, GateVerdict.BROKEN, GateVerdict.FAILED, GateVerdict.SKIPPED, GateVerdict.VOID}


class Controller:
    """The plug-in of a run with `--duel`. Raise `pytest.UsageError` if an option is wrong."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._notes = config, list[str]()
        self._run: GateRun | None = None
        self._items: list[pytest.Item] = []
        with _as_usage_errors():
            self._settings = settings(config)
            self._repository = Repository(config.rootpath)
            self._base = find_base(self._settings.base, self._repository, config.invocation_params.dir)
        self._use_one_process()
        if folder := config.getoption("duel_asv"):
            path = config.invocation_params.dir / folder
            config.pluginmanager.register(AsvFiles(path), "duel-asv")
            if not any(path.is_relative_to(config.invocation_params.dir / each) for each in config.args):
                config.args.append(str(path))

    def _use_one_process(self) -> None:
        option = self._config.option
        if getattr(option, "dist", "no") != "no" or getattr(option, "numprocesses", None):
            self._notes.append("-n is not used, because measurements at the same time disturb each other.")
            option.dist, option.tx, option.numprocesses = "no", [], 0

    def pytest_report_header(self) -> list[str]:
        """Return what is compared."""
        changed = " with uncommitted changes" if self._repository.output("status", "--porcelain") else ""
        here = self._repository.commit("HEAD")[:12] or "a tree without a commit"
        base = f"{self._base.typed} ({self._base.commit[:12]})" if self._base.commit else self._base.typed
        return [f"duel: {here}{changed} against {base}", *(f"duel: {note}" for note in self._notes)]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep only the benchmarks."""
        self._items = [item for item in items if is_benchmark(item)]
        if others := [item for item in items if not is_benchmark(item)]:
            config.hook.pytest_deselected(items=others)
            items[:] = self._items

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Measure the benchmarks, and report the outcome of each one as the result of its test."""
        option = self._config.option
        if option.collectonly or (session.testsfailed and not option.continue_on_collection_errors):
            return None  # as pytest usually does
        if not self._items:
            raise pytest.UsageError(
                "There is no benchmark to compare. Use the fixture `benchmark` in a test, or mark it: @pytest.mark.duel"
            )
        with _as_usage_errors():
            run = self._measured()
        self._run = run = replace(run, commit=self._base.commit)
        self._report(run)
        self._write_files(run)
        return True

    def _measured(self) -> GateRun:
        files = [item.path for item in self._items]
        benchmarks = [self._benchmark(item) for item in self._items]
        arguments = worker_options(self._config, files)
        tests = {*files, self._config.invocation_params.dir / (self._config.getoption("duel_asv") or files[0])}
        project = Project(self._config.rootpath, frozenset(tests - {self._config.rootpath}), self._config.inipath)
        with source_trees(self._repository, self._base, project, self._tell) as sides:
            base, here = (replace(side, arguments=arguments) for side in sides)
            return measure(benchmarks, (base, here), self._settings, lambda found: self._tell(_line(found)))

    def _benchmark(self, item: pytest.Item) -> GateBenchmark:
        own = marker_settings(item)
        allowed, limit_s = (own.get("allow", self._settings.allowed), own.get("limit_s", self._settings.limit_s))
        return GateBenchmark(item.nodeid, allowed, limit_s)

    def _tell(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self._config.get_verbosity() >= 0:
            reporter.write_line(line)

    def _report(self, run: GateRun) -> None:
        outcomes = {outcome.name: outcome for outcome in run.outcomes}
        for item in self._items:
            hook, outcome = item.ihook, outcomes.get(item.nodeid)
            if outcome is None:
                continue
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            for when in ("setup", "call", "teardown"):
                hook.pytest_runtest_logreport(report=_test_report(item, run, outcome, when))
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _write_files(self, run: GateRun) -> None:
        for name, render in (("duel_json", machine_readable.to_json), ("duel_html", page.render)):
            if given := self._config.getoption(name):
                path = self._config.invocation_params.dir / given
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(render(run), encoding="utf-8")
                except OSError as error:
                    raise pytest.UsageError(
                        f"{path} could not be written ({error.strerror}). Give another path."
                    ) from None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the run, and publish it on GitHub."""
        if self._run is not None:
            terminal.show(self._run, terminalreporter)
            places = {item.nodeid: (item.path, (item.location[1] or 0) + 1) for item in self._items}
            annotations.publish(self._run, places, terminalreporter.write_line)


@contextmanager
def _as_usage_errors() -> Iterator[None]:
    try:
        yield
    except FairclockError as error:
        raise pytest.UsageError(str(error)) from error


def _line(outcome: BenchmarkOutcome) -> str:
    again = " (measured again)" if outcome.measured_again else ""
    return f"{outcome.verdict.upper():<10}{outcome.name}{again}"


def _test_report(
    item: pytest.Item, run: GateRun, outcome: BenchmarkOutcome, when: Literal["setup", "call", "teardown"]
) -> pytest.TestReport:
    result: Literal["passed", "failed", "skipped"] = "passed"
    longrepr: Any = None
    if when == "call":
        change = wording.in_brackets(outcome.change, outcome.limit(run)) if outcome.change else ""
        text = f"{outcome.verdict.upper()}: {' '.join(filter(None, (change, wording.explanation(run, outcome))))}"
        if run.is_red(outcome):
            result, longrepr = "failed", text
        elif outcome.verdict in _NOT_MEASURED:
            result, longrepr = "skipped", (str(item.path), item.location[1] or 0, text)
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome=result,
        longrepr=longrepr,
        when=when,
        duration=outcome.spent_s if when == "call" else 0.0,
        user_properties=machine_readable.junit_properties(run, outcome),
    )


def settings(config: pytest.Config) -> GateSettings:
    """Return the settings that the options of pytest choose. Raise `UsageError` if a value is wrong."""
    cost = config.getoption("duel_cost") or GateCost.CPU.name.lower()
    if cost not in (names := [each.name.lower() for each in GateCost]):
        raise UsageError(f"--duel-cost {cost} is not known. Use one of: {', '.join(names)}.")
    if why := lacking(GateCost[cost.upper()]):
        raise UsageError(f"--duel-cost {cost} is not possible: {why}")
    allowed = number("--duel-allow", config.getoption("duel_allow") or str(ALLOWED), most=10)
    usual_s = LIMIT_S * max(1.0, ALLOWED / allowed)  # smaller changes need more pairs of processes
    return GateSettings(
        base=config.getoption("duel"),
        allowed=allowed,
        limit_s=number("--duel-limit", config.getoption("duel_limit") or str(usual_s), most=86_400),
        cost=GateCost[cost.upper()],
        strict=config.getoption("duel_strict"),
        shadow=config.getoption("duel_shadow"),
    )
