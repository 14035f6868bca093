"""The process of one side of `pytest --duel`: pytest, which stops at the timed call of a benchmark to run blocks of it.

    python -P -m harness.gate.worker ARGUMENTS OF PYTEST      (in the folder of the side's tree)

The caller and this process exchange frames of `harness.processes.channel` on the pipes of standard input and output.
All printed text goes to standard error. At first, without a request, the worker collects the tests, and sends

    `d` {"benchmarks": [node id], "errors": {node id of a file: failure}}

A *failure* is {"kind", "message", "traceback"}. Then the worker answers each of these requests with `d` or `f`:

    `i` {"item": node id, "next": node id or null}      run this test up to its timed call. "next" is the test that the
        caller will request next; fixtures that both tests share stay. After a first call and calibration, the answer is
        `d` {"cpu_s", "wall_s": seconds of one call, "whole_s": wall seconds of one call with the untimed code around
        it, "on_gpu": whether the clocks wait for a GPU, "can_fork": whether a fork can run the call}
    `s` {"seed": number, "forks": whether in a fork, "populates": whether with its own copy of all memory}      change
        the memory layout (`harness.gate.layout`). The answer is `d` {}. If there is a fork, it answers from now on
    `l` {}      end the fork. The answer, of the process before the fork, is `d` {}
    `b` {"calls": n}      time a block of n calls. The answer is
        `d` {"cpu_s": CPU seconds of all threads, and of child processes that have ended, "wall_s", "waited_s": seconds
        for which the main thread was ready, but waited for its core}. It comes after about n × "whole_s"
    `c` {"cost": name of a `GateCost`, "calls": n}      count a cost of a block of n calls (`harness.gate.counting`).
        The answer is `d` {"counted": for all calls together, or of the call with the most memory, "wall_s"}
    `e` {}      end the test: what follows the timed call, and the teardown, run. The answer is
        `d` {"extra_info": {name: value} of the `benchmark` fixture}

Instead of `d`, the answer may be `f` with a failure. Its test has then ended, and `i` may follow. The kinds are

    missing      the worker has not collected such a test
    import       the file of the test cannot be imported; also the only answer if pytest cannot start, because of a
                 conftest.py or an option
    raised       the setup, the test or the teardown raised an exception, or pytest reports the test as failed
    skipped      the test was skipped, or is expected to fail
    unfinished   the timed call only returned a coroutine, a generator or the like, so its work has not run
    untimed      the test ended without a timed call, or without the end of its blocks
    leaked       (only after `e`) child processes still ran at the end, and were killed; the times are valid
    foreign      a module of the project comes from another place than the side's tree, or this process cannot count
    ended        pytest itself ended, as after `pytest.exit`; the worker ends, too

The process ends when the caller closes the pipes. It may also end at any moment without an answer, if the code of the
test ends it.
"""

import atexit
import gc
import json
import os
import random
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from importlib.metadata import entry_points
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NoReturn

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.errors import MachineError, UsageError, described
from harness.gate import forks, layout
from harness.gate.asv import AsvFiles
from harness.gate.children import kill, running_children
from harness.gate.counting import CountedCall
from harness.gate.import_roots import ForeignModuleError, check_worker
from harness.gate.settings import GateCost
from harness.gate.timed_calls import FIXTURE, SERVE, BenchmarkFixture, TimedCall, TimedCalls, is_benchmark
from harness.machine.clocks import CoreWait
from harness.paired.blocks import gc_off_one_thread
from harness.processes.channel import Channel, Closed, ProtocolError, stdio_channel

ITEM: Final = b"i"
SHUFFLE: Final = b"s"
LEAVE: Final = b"l"
BLOCK: Final = b"b"
COUNT: Final = b"c"
END: Final = b"e"
DONE: Final = b"d"
FAILED: Final = b"f"

_OPTIONS: Final = ("--capture=no", "-q", "--no-header", "--no-summary", "--tb=short", "-k", "", "-m", "")
"""The caller selects tests, and printed text goes to the log, where it is found even if the process crashes."""

_LAST_OPTIONS: Final = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
"""This process has imported this package before pytest could rewrite its assertions, of which it has none."""

_REMOVED: Final = {
    "pytest_benchmark.plugin": "benchmark",
    "pytest_codspeed.plugin": "codspeed_benchmark",
    "pytest_timeout": "timeout",
    "pytest_cov.plugin": "no_cover",
    "pytest_rerunfailures": "flaky",
    "flaky.flaky_pytest_plugin": "flaky",
    "pytest_randomly": "",
    "xdist.plugin": "xdist_group",
    "xdist.looponfail": "",
}
"""Plug-ins that would start processes, limit the time at the timed call, repeat tests, make different random numbers
on each side, or refuse another `benchmark` fixture; and their markers. The project's configuration may use these
markers, and the options, which stay known."""

_SEED: Final = 0
_MOST_GARBAGE: Final = 100_000  # new objects after which garbage is collected between two blocks

_UNTIMED: Final = (
    "The test ended without a timed call. Call its `benchmark` fixture. A method of unittest.TestCase cannot be timed: "
    "write a function with @pytest.mark.duel."
)

Failure = dict[str, str]


class SideWorker:
    """A plug-in of pytest that runs tests on request instead of one after the other.

    If pytest ends, `owed` is the failure that the caller still waits for.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._errors: dict[str, Failure] = {}
        self._failure: Failure | None = None
        self._benchmark: BenchmarkFixture | None = None
        self._children, self._descriptors = set[psutil.Process](), set[Path]()
        self._timed = self._ending = False
        self.owed: Failure | None = _failure("import", "pytest ended before the first test.")

    @pytest.hookimpl(wrapper=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Generator[None, None, None]:
        """Remove the plug-ins that disturb measurements."""
        early_config.known_args_namespace.cov_source = []  # else pytest-cov begins to trace now
        for name in _REMOVED:
            module = sys.modules.get(name)
            if module is not None and early_config.pluginmanager.is_registered(module):
                early_config.pluginmanager.unregister(module)
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, pytest.Config, pytest.Config]:
        """Ignore `--duel` in the project's configuration. Note why a conftest.py or an option is wrong."""
        try:
            config = yield
        except Exception as error:
            self.owed = _failure("import", described(getattr(error, "cause", error)))
            raise
        config.option.duel = None
        return config

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Define the `benchmark` fixture after those of other plug-ins, because the last one is used."""
        for marker in filter(None, _REMOVED.values()):
            config.addinivalue_line("markers", marker)
        config.stash[SERVE] = self._serve
        config.pluginmanager.register(TimedCalls())
        if folder := config.getoption("duel_asv"):
            config.pluginmanager.register(AsvFiles(config.rootpath / folder))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note which files cannot be imported."""
        if report.failed:
            self._errors[report.nodeid] = _failure("import", _last_line(report.longreprtext), report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests that the caller requests."""
        items = {item.nodeid: item for item in session.items}
        found = [name for name, item in items.items() if is_benchmark(item)]
        self.owed, self._descriptors = None, forks.descriptors()
        with suppress(Closed):
            self._channel.send(DONE, {"benchmarks": found, "errors": self._errors})
            while True:
                _, body = self._receive(ITEM)
                if item := items.get(name := body["item"]):
                    self._run(item, items.get(body.get("next") or ""))
                else:
                    fitting = (self._errors[file] for file in self._errors if name.startswith(file))
                    self._channel.send(FAILED, next(fitting, _failure("missing", f"There is no test {name}.")))
        return True

    def _receive(self, *kinds: bytes) -> tuple[bytes, dict[str, Any]]:
        kind, body = self._channel.receive()
        if kind not in kinds:
            raise ProtocolError(f"a message of kind {kind!r} instead of {kinds}")
        return kind, body

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._failure = self._benchmark = None
        self._timed = self._ending = False
        self.owed = _failure("ended", "The test ended pytest itself.")
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        self.owed = None
        if failure := self._failure or self._unusual_end():
            self._channel.send(FAILED, failure)
        else:
            extra = json.dumps(self._benchmark.extra_info if self._benchmark else {}, default=repr, skipkeys=True)
            self._channel.send(DONE, {"extra_info": json.loads(extra)})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Let both sides use the same random numbers."""
        _seed()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        """Note which child processes the fixtures have started, because they may outlive the test."""
        self._children = running_children()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the first failure of a test, and its `benchmark` fixture."""
        report = yield
        found = (getattr(item, "funcargs", None) or {}).get(FIXTURE)
        self._benchmark = found if isinstance(found, BenchmarkFixture) else self._benchmark
        if self._failure is None and not report.passed:
            error = call.excinfo.value if call.excinfo else None
            kind = "skipped" if report.skipped else "unfinished" if isinstance(error, UsageError) else "raised"
            kind = "foreign" if isinstance(error, ForeignModuleError | MachineError) else kind
            message = _last_line(report.longreprtext) if error is None else described(error)
            if isinstance(error, (UsageError, MachineError, pytest.skip.Exception)):
                message = str(error)
            self._failure = _failure(kind, message, report.longreprtext)
        return report

    def _serve(self, call: TimedCall) -> None:
        # The test stands at its timed call. Run blocks until the caller requests the end of the test.
        check_worker()
        counted = CountedCall(call.loop)
        try:
            with gc_off_one_thread():
                one, whole_s = call.calibrated()
                times = {"cpu_s": one.call_s(), "wall_s": one.call_s(by_wall=True), "whole_s": whole_s}
                self._timed, can_fork = True, forks.can_fork(self._descriptors)
                self._channel.send(DONE, {**times, "on_gpu": call.on_gpu, "can_fork": can_fork})
                self._answer_until(END, call, counted)
                self._ending = True
        finally:
            counted.close()

    def _answer_until(self, end: bytes, call: TimedCall, counted: CountedCall) -> None:
        with closing(CoreWait()) as waited:
            while (message := self._receive(SHUFFLE, BLOCK, COUNT, end))[0] != end:
                kind, body = message
                answer: dict[str, object] = {}
                if kind == BLOCK:
                    answer = _block(call, body["calls"], waited)
                elif kind == COUNT:
                    answer = counted.block(GateCost[body["cost"]], body["calls"])
                elif not body["forks"] or forks.fork(populates=body["populates"]):
                    layout.shuffle(body["seed"])
                    if body["forks"]:
                        self._channel.send(DONE)
                        self._answer_until(LEAVE, call, counted)
                        kill(running_children() - self._children)
                        forks.leave()
                self._channel.send(DONE, answer)
                if gc.get_count()[0] > _MOST_GARBAGE:
                    gc.collect()

    def _unusual_end(self) -> Failure | None:
        if not self._timed:
            return _failure("untimed", _UNTIMED)
        if not self._ending:
            return _failure("untimed", "The test caught the exception of its timed call, and ended.")
        if leaked := running_children() - self._children:
            kill(leaked)
            numbers = ", ".join(str(child.pid) for child in leaked)
            return _failure("leaked", f"The test left child processes running ({numbers}). End them in the test.")
        return None


def _block(call: TimedCall, calls: int, waited: CoreWait) -> dict[str, object]:
    before_s = waited()
    reading = call.block(calls)
    return {"cpu_s": reading.cpu_s, "wall_s": reading.wall_s, "waited_s": waited() - before_s}


def _seed() -> None:
    random.seed(_SEED)
    for name, *path in (("numpy", "random", "seed"), ("torch", "manual_seed")):
        if module := sys.modules.get(name):
            attrgetter(".".join(path))(module)(_SEED)


def _failure(kind: str, message: str, traceback: str = "") -> Failure:
    return {"kind": kind, "message": message, "traceback": traceback}


def _last_line(text: str) -> str:
    return next((line.removeprefix("E").strip() for line in reversed(text.splitlines()) if line.startswith("E")), text)


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments, until the caller closes the pipes."""
    channel = stdio_channel()
    layout.shuffle(int(os.environ.get(layout.SEED_VARIABLE, "0")))
    worker = SideWorker(channel)
    _seed()  # test files may make random data when they are imported
    plugin = f"{__package__}.plugin"  # the project may use its options, and BASE lack its entry point
    known = [entry.name for entry in entry_points(group="pytest11") if entry.value == plugin]
    own = [] if {plugin, *known} & {*arguments} else ["-p", *(known or [plugin])]  # only one of its names may be used
    status = pytest.main([*own, *_OPTIONS, *arguments, *_LAST_OPTIONS], plugins=[worker])
    if worker.owed:
        with suppress(Closed):
            channel.send(FAILED, worker.owed)
    return int(status)


def end_at_once(status: int) -> NoReturn:
    """End this process without freeing its objects one by one, which takes as long as a part of its start."""
    atexit._run_exitfuncs()  # noqa: SLF001 - its documented use is only at the end of Python itself
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    end_at_once(main(sys.argv[1:]))
