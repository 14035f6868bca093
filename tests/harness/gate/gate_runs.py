"""Runs of `pytest --duel` with every verdict, and strategies for any other run."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median

from hypothesis import strategies as st

from harness.gate.outcomes import BenchmarkOutcome, Change, GateControl, GateRound, GateRun, GateVerdict
from harness.gate.settings import GateCost

FOLDER = "tests/benchmarks"
COMMIT = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
CONTROL = GateControl(f"{FOLDER}/test_parse.py::test_parse", Change(0.0004, -0.0021, 0.0029), failed=False)
NOISY = GateControl(f"{FOLDER}/test_parse.py::test_parse", Change(0.058, 0.031, 0.086), failed=True)


def measured(
    name: str, verdict: GateVerdict, ratios: tuple[float, ...], here_s: float, **more: object
) -> BenchmarkOutcome:
    """Return an outcome of four pairs of processes, whose rounds have these ratios of the costs here and of BASE."""
    rounds = tuple(
        GateRound(at, here_s / (ratio * factor), here_s, here_s * 1.2 / ratio, here_s * 1.2)
        for at, factor in enumerate((0.998, 1.001, 0.9995, 1.0015))
        for ratio in ratios
    )
    centre = median(ratios) - 1
    change = Change(centre, min(ratios) - 1, max(ratios) - 1)
    outcome = BenchmarkOutcome(name, verdict, change, here_s / (1 + centre), here_s, rounds, spent_s=4.1)
    return replace(outcome, **more)  # type: ignore[arg-type]


OUTCOMES = (
    measured(f"{FOLDER}/test_parse.py::test_parse", GateVerdict.SAME, (0.997, 1.002, 1.006), 1.35e-3),
    measured(f"{FOLDER}/test_render.py::test_table[10 rows]", GateVerdict.FASTER, (0.61, 0.63, 0.64), 48e-6),
    measured(
        f"{FOLDER}/test_render.py::test_table[1000 rows]",
        GateVerdict.SLOWER,
        (1.1, 1.12, 1.15),
        4.8e-3,
        measured_again=True,
    ),
    measured(f"{FOLDER}/test_render.py::test_page", GateVerdict.SLOWER, (3.9, 4.3, 4.8), 0.22, measured_again=True),
    measured(
        f"{FOLDER}/test_load.py::test_load",
        GateVerdict.UNDECIDED,
        (0.98, 1.02, 1.07),
        0.31,
        why="After 10 s, the interval still contains the allowed change.",
    ),
    BenchmarkOutcome(
        f"{FOLDER}/test_new.py::test_stream", GateVerdict.NEW, why="ImportError: cannot import name 'stream'"
    ),
    BenchmarkOutcome(
        f"{FOLDER}/test_load.py::test_save", GateVerdict.BROKEN, why="TypeError: save() needs 2 arguments"
    ),
    BenchmarkOutcome(
        f"{FOLDER}/test_load.py::test_pack",
        GateVerdict.FAILED,
        why="The process was killed by SIGKILL.",
    ),
)
RUN = GateRun(
    "main", COMMIT, 0.03, "CPU time", OUTCOMES, (CONTROL,), datetime(2031, 4, 5, 6, 7, tzinfo=UTC), 41.5, "4 × EPYC"
)
VOID = replace(
    RUN, controls=(CONTROL, NOISY), outcomes=tuple(replace(one, verdict=GateVerdict.VOID) for one in OUTCOMES[:5])
)

NAMES = st.text(min_size=1, max_size=40).map("tests/test_a.py::test[{}]".format) | st.sampled_from(
    (
        "test_a.py::test_<b>&amp;[x|y](javascript:x)",
        "test_a.py::test[**bold** `code` \\| ![](x) <!-- --> $x$ :tada:]",
        "test_a.py::test[👩‍👩‍👧 日本語 \u202egnp.exe \x1b[31m]",
        "test_a.py::test[a\r\n::error::not mine]",
        f"test_a.py::test[{'日本語' * 30}]",
        f"test_a.py::test[{'::' * 60}]",
        "tests/" + "deep/" * 30 + "test_a.py::" + "test_long_" * 40,
    )
)
COSTS = st.floats(1e-9, 1e4)
ROUNDS = st.lists(st.builds(GateRound, st.integers(0, 9), COSTS, COSTS, COSTS, COSTS), max_size=4).map(tuple)


@st.composite
def a_change(draw: st.DrawFn) -> Change:
    low, measured, high = sorted(draw(st.tuples(*[st.floats(-0.999, 20)] * 3)))
    return Change(measured, low, draw(st.sampled_from((high, math.inf))))


OUTCOME = st.builds(
    BenchmarkOutcome,
    NAMES,
    st.sampled_from(GateVerdict),
    st.none() | a_change(),
    st.none() | COSTS,
    st.none() | COSTS,
    ROUNDS,
    COSTS,
    st.booleans(),
    st.text(max_size=20),
    st.none() | st.just(0.1),
)
A_RUN = st.builds(
    GateRun,
    st.sampled_from(("main", "v1.0", "dist/a b-1.0.whl")),
    st.sampled_from((COMMIT, "")),
    st.integers(0, 200).map(lambda tenths: tenths / 1000),
    st.sampled_from(GateCost).map(str),
    st.lists(OUTCOME, max_size=4, unique_by=lambda one: one.name).map(tuple),
    st.lists(st.builds(GateControl, NAMES, a_change(), st.booleans()), max_size=3).map(tuple),
    st.datetimes(timezones=st.just(UTC)),
    COSTS,
    st.text(max_size=20),
    st.booleans(),
    st.booleans(),
)
