"""Prepare the timed call of a benchmark: the `benchmark` fixture, and tests with `@pytest.mark.duel`.

The call runs once, and its result is checked (`harness.timeable`). Then `serve` receives it as a `TimedCall`, and may
time blocks of calls. When `serve` returns, the test continues with the result of the call, so its assertions run.
"""

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from typing import Any, Final

import pytest

from harness.errors import UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock
from harness.paired.blocks import TimingLoop, calibrate, timing_loop
from harness.paired.rounds import Reading, make_reading
from harness.timeable import finished

if sys.platform != "win32":
    import resource

MARKER: Final = "duel"
FIXTURE: Final = "benchmark"
SETTINGS: Final = ("allow", "limit_s")
"""The settings of `@pytest.mark.duel`: the largest change that is not SLOWER, and the time limit of the benchmark."""

RUNS_ONCE_S: Final = 0.05
"""A call that takes longer runs only once before it is measured."""

_TRIES, _TRIES_S = 8, 0.25  # the most calls for calibration with a setup before each call, and their time in seconds


@dataclass(frozen=True)
class TimedCall:
    """A call that has run once. `block` runs it a number of times, and returns the times of these calls alone.

    `loop` returns a function like `block` that uses another clock, which may count something else than seconds.
    `first` are the times of the first call, which took `whole_s` with what runs before and after each call, such as the
    setup of `benchmark.pedantic`. `each_prepared` is True if there is such code.
    """

    loop: Callable[[Clock], TimingLoop]
    first: Reading
    whole_s: float
    each_prepared: bool = False

    @cached_property
    def block(self) -> TimingLoop:
        """The function that runs the call a number of times."""
        return self.loop(_clock())

    @property
    def on_gpu(self) -> bool:
        """Whether the clock waits for a GPU, because torch has used one."""
        return _uses_gpu()

    def calibrated(self) -> tuple[Reading, float]:
        """Return the times of enough calls to know how long one takes, and the wall seconds of one with all around it.

        A slow call does not run again.
        """
        if self.whole_s >= RUNS_ONCE_S:
            return self.first, self.whole_s
        if not self.each_prepared:
            usual = calibrate(self.block)
            return usual, usual.call_s(by_wall=True)
        tries, began_s = min(max(1, int(_TRIES_S / self.whole_s)), _TRIES), clocks.wall()
        usual = min((self.block(1) for _ in range(tries)), key=lambda reading: reading.wall_s)
        return usual, (clocks.wall() - began_s) / tries


Serve = Callable[[TimedCall], None]
SERVE: Final = pytest.StashKey[Serve]()
"""Where the configuration of pytest has the function `serve`."""


def is_benchmark(item: pytest.Item) -> bool:
    """Return whether this test has the marker `duel` or `benchmark`, or uses the `benchmark` fixture."""
    return is_marked(item) or FIXTURE in getattr(item, "fixturenames", ())


def is_marked(item: pytest.Item) -> bool:
    """Return whether this test has the marker `duel`, or the marker `benchmark`, as tests with pytest-codspeed have."""
    return any(item.get_closest_marker(name) for name in (MARKER, FIXTURE))


def marker_settings(item: pytest.Item) -> dict[str, float]:
    """Return the settings of a test's markers `duel`, of which the innermost has priority. Raise `UsageError`."""
    found: dict[str, float] = {}
    for marker in reversed(list(item.iter_markers(MARKER))):
        found |= marker.kwargs
        if marker.args or any(name not in SETTINGS for name in marker.kwargs):
            raise UsageError(
                f"@pytest.mark.duel of {item.nodeid} has an unknown setting. Use only {', '.join(SETTINGS)}, such as "
                "@pytest.mark.duel(allow=0.05, limit_s=20)."
            )
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise UsageError(f"{name}={value!r} of {item.nodeid} is not valid. Use a positive number.")
    return found


class TimedCalls:
    """A plug-in of pytest that passes the timed call of each benchmark to the function at `SERVE`."""

    _events: asyncio.Runner | None = None

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> "BenchmarkFixture":
        """Time a function: `benchmark(function, *args, **kwargs)` returns its result."""
        return BenchmarkFixture(request.node, request.config.stash[SERVE])

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Time the whole test function if it has a marker, and no `benchmark` fixture."""
        if not is_marked(pyfuncitem) or FIXTURE in pyfuncitem.fixturenames:
            return None
        serve = pyfuncitem.config.stash[SERVE]
        names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - pytest's own hook reads it, too
        test, arguments = pyfuncitem.obj, {name: pyfuncitem.funcargs[name] for name in names}
        if inspect.iscoroutinefunction(test) and "anyio_backend" in pyfuncitem.funcargs:
            run = sys.modules["anyio.pytest_plugin"].pytest_pyfunc_call  # in the event loop of the fixtures
            time_repeated(run, (pyfuncitem,), {}, serve)
        elif inspect.iscoroutinefunction(test):
            self._events = self._events or asyncio.Runner()
            time_awaited(partial(test, **arguments), self._events, serve)
        else:
            time_repeated(test, (), arguments, serve)
        return True

    def pytest_unconfigure(self) -> None:
        """Close the event loop of the asynchronous tests."""
        if self._events is not None:
            self._events.close()


class FixtureAlreadyUsedError(Exception):
    """A test has used its `benchmark` fixture twice."""


class BenchmarkFixture:
    """The value of the `benchmark` fixture, with the interface of pytest-benchmark."""

    enabled, disabled, stats = False, True, None  # as with --benchmark-disable, because the times are not known here

    def __init__(self, node: pytest.Item, serve: Serve) -> None:
        self._serve, self._mode = serve, ""
        marker = node.get_closest_marker(FIXTURE)
        self.name, self.fullname, self.extra_info = node.name, node.nodeid, dict[str, object]()
        self.group = marker.kwargs.get("group") if marker else None
        callspec = getattr(node, "callspec", None)
        self.param: str | None = callspec.id if callspec else None
        self.params: dict[str, object] | None = callspec.params if callspec else None

    def __call__(self, function_to_benchmark: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Time calls with these arguments, and return the result of the first one. Works as a decorator, too."""
        self._use("benchmark(...)")
        return time_repeated(function_to_benchmark, args, kwargs, self._serve)

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., object] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Time calls of `target`, with `setup` before and `teardown` after each call, and return the first result.

        `setup` may return the arguments. The numbers of rounds and iterations are only checked.
        """
        self._use("benchmark.pedantic(...)")
        numbers = {"iterations": (iterations, 1), "rounds": (rounds, 1), "warmup_rounds": (warmup_rounds, 0)}
        for name, (number, least) in numbers.items():
            if not isinstance(number, int) or number < least:
                raise ValueError(f"Must have positive int for `{name}`.")
        if iterations > 1 and setup:
            raise ValueError("Can't use more than 1 `iterations` with a `setup` function.")
        arguments = tuple(args), dict(kwargs or {})

        def prepare() -> Any:
            made = setup() if setup else None
            if made and any(arguments):
                raise TypeError("Can't use `args` or `kwargs` if `setup` returns the arguments.")
            return made or arguments

        if setup is None and teardown is None:
            return time_repeated(target, *arguments, self._serve, warm_up_calls=warmup_rounds)
        return time_prepared(prepare, target, teardown, self._serve, warm_up_calls=warmup_rounds)

    def _use(self, mode: str) -> None:
        if self._mode:
            raise FixtureAlreadyUsedError(
                f"Fixture can only be used once. Previously it was used in {self._mode} mode. Write a test for each "
                "call that is timed."
            )
        self._mode = mode


def time_repeated(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], serve: Serve, warm_up_calls: int = 0
) -> Any:
    """Pass calls of a function to `serve`, and return the result of the first one. Its exceptions are not caught."""
    call = partial(function, *args, **kwargs) if args or kwargs else function
    for _ in range(warm_up_calls):
        call()
    wall_s, cpu_s = clocks.wall(), _cpu()
    result = finished(call(), _text(function, args or kwargs), function=True)
    first = make_reading(_after_gpu() - cpu_s, clocks.wall() - wall_s)
    serve(TimedCall(lambda clock: timing_loop(call, clock=clock), first, first.wall_s))
    return result


def time_prepared(
    prepare: Callable[[], tuple[Sequence[Any], Mapping[str, Any]]],
    target: Callable[..., Any],
    teardown: Callable[..., object] | None,
    serve: Serve,
    warm_up_calls: int = 0,
) -> Any:
    """Pass calls of `target` to `serve`, and return the first result. `prepare` returns the arguments of each call.

    Before each call, `prepare` runs, and after it `teardown` with the same arguments. Their times do not count.
    """
    results: list[Any] = []

    def block(calls: int, clock: Clock) -> Reading:
        cpu_s, wall_s = 0.0, 0.0
        for _ in range(calls):
            args, kwargs = prepare()
            began_wall_s = clocks.wall()
            began_s = clock()
            result = target(*args, **kwargs)
            cpu_s += clock() - began_s
            wall_s += clocks.wall() - began_wall_s
            if not results:
                results.append(finished(result, _text(target, args or kwargs), function=True))
            del result
            if teardown is not None:
                teardown(*args, **kwargs)
        return make_reading(cpu_s, wall_s, calls)

    for _ in range(warm_up_calls):
        block(1, _after_gpu)
    results.clear()
    began_s = clocks.wall()
    first = block(1, _after_gpu)
    serve(TimedCall(lambda clock: partial(block, clock=clock), first, clocks.wall() - began_s, each_prepared=True))
    return results[0]


def time_awaited(function: Callable[[], Coroutine[Any, Any, object]], events: asyncio.Runner, serve: Serve) -> None:
    """Pass calls of a coroutine function to `serve`. The event loop starts once for a whole block."""

    async def block(calls: int, clock: Clock) -> Reading:
        each = repeat(None, calls)
        wall_s = clocks.wall()
        cpu_s = clock()
        for _ in each:
            await function()
        cpu_s = clock() - cpu_s
        return make_reading(cpu_s, clocks.wall() - wall_s, calls)

    first = events.run(block(1, _after_gpu))

    def loop(clock: Clock) -> TimingLoop:
        return lambda calls: events.run(block(calls, clock))

    serve(TimedCall(loop, first, first.wall_s))


def _text(function: object, has_arguments: object) -> str:
    name = str(getattr(function, "__name__", "f"))
    return f"{name if name.isidentifier() else 'f'}({'*args' if has_arguments else ''})"


def _clock() -> Clock:
    """Return the clock for blocks of calls. If torch has used a GPU, the clock waits for the GPU first."""
    return _after_gpu if _uses_gpu() else _cpu


def _after_gpu() -> float:
    if _uses_gpu():
        sys.modules["torch"].cuda.synchronize()
    return _cpu()


def _uses_gpu() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized())


def _cpu() -> float:
    """Return the CPU seconds of all threads of this process, and of its child processes that have ended."""
    children_s = 0.0
    if sys.platform != "win32":
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        children_s = ended.ru_utime + ended.ru_stime
    return children_s + time.process_time()
