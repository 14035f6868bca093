"""Time one statement with `torch.utils.benchmark.Timer`, and keep beside the result what it was measured on.

The words are Timer's: `stmt`, `setup`, `globals`, `label`, `sub_label`, `description`, `env`, `num_threads`,
`min_run_time`. To compare two pieces of code, measure neither by itself: see `harness.duel`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType

from torch.utils.benchmark import Measurement, Timer
from torch.utils.benchmark.utils.timer import timer as synchronizing_clock

from harness.clocks import Clock
from harness.environment import Environment
from harness.errors import UsageError
from harness.units import percent, seconds, some

_STATEMENT_FILE = "<timeit-src>"
"""The file name under which `timeit` compiles the timed statement (`timeit.dummy_src_name`)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A torch `Measurement`, raw times included, and the environment it was made in. Both can be pickled."""

    measurement: Measurement
    environment: Environment

    @property
    def samples_s(self) -> tuple[float, ...]:
        """Seconds per run, one value a block, in the order measured."""
        return tuple(self.measurement.times)

    @property
    def runs_per_sample(self) -> int:
        """How many runs of the statement each sample is the average of."""
        return self.measurement.number_per_run

    @property
    def median_s(self) -> float:
        """The median of the samples, in seconds per run."""
        return self.measurement.median

    @property
    def mean_s(self) -> float:
        """The mean of the samples, in seconds per run."""
        return self.measurement.mean

    @property
    def iqr_s(self) -> float:
        """How wide the middle half of the samples is, in seconds per run; NaN for a single sample.

        torch says 0 there, which reads as "no spread" where nothing is known of it.
        """
        return self.measurement.iqr if len(self.samples_s) > 1 else float("nan")

    def describe(self) -> str:
        """Return one line: "median 107 µs, IQR 1.9 %, 212 samples of 9 runs"."""
        n = len(self.samples_s)
        spread = f", IQR {percent(self.iqr_s / self.median_s)}" if n > 1 else ""
        return f"median {seconds(self.median_s)}{spread}, {some(n, 'sample')} of {some(self.runs_per_sample, 'run')}"


def measure(
    stmt: str | Callable[[], object],
    setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - Timer's word
    *,
    label: str | None = None,
    sub_label: str | None = None,
    description: str | None = None,
    env: str | None = None,
    num_threads: int = 1,
    min_run_time: float = 0.2,
    adaptive: bool = False,
    threshold: float = 0.1,
    max_run_time: float = 10.0,
    timer: Clock = synchronizing_clock,
) -> Measured:
    """Time `stmt` in blocks for at least `min_run_time` seconds.

    `stmt` is code that finds its names in `globals` and `setup`, or a function without arguments; then its
    name is the label unless one is given, and each run costs one call more. `num_threads` is the size of
    torch's thread pool meanwhile. `adaptive` goes on until IQR ÷ median is below `threshold` or
    `max_run_time` seconds are spent. `timer` is the clock; Timer's own waits for the GPU, where there is
    one, before it reads.

    Raises `UsageError` when `stmt` uses a name that it was not given; what `stmt` itself raises passes
    through.
    """
    names = dict(globals or {})
    if callable(stmt):
        names["_stmt"] = stmt
        label = label or getattr(stmt, "__name__", type(stmt).__name__)
        stmt = "_stmt()"
    runner = Timer(
        stmt=stmt,
        setup=setup,
        globals=names,
        label=label,
        sub_label=sub_label,
        description=description,
        env=env,
        num_threads=num_threads,
        timer=timer,
    )
    try:
        if adaptive:
            measurement = runner.adaptive_autorange(threshold, min_run_time=min_run_time, max_run_time=max_run_time)
        else:
            measurement = runner.blocked_autorange(min_run_time=min_run_time)
    except NameError as error:
        if not _raised_by_statement(error.__traceback__):
            raise
        raise UsageError(
            f"The statement uses {error.name!r}, which Timer cannot see; "
            f"pass globals={{{error.name!r}: {error.name}}} or define it in setup."
        ) from error
    return Measured(measurement, Environment.capture())


def _raised_by_statement(traceback: TracebackType | None) -> bool:
    """Whether the innermost frame is the timed statement itself, not something that it calls."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_filename == _STATEMENT_FILE
