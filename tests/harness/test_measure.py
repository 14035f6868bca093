import pickle
from math import isnan

import pytest

from harness.clocks import FakeClock
from harness.environment import Environment
from harness.errors import UsageError
from harness.measure import measure

STEP_S = 2**-10  # a power of two, so that sums of it are exact


def test_each_sample_is_the_time_of_one_run() -> None:
    clock = FakeClock()
    measured = measure(lambda: clock.advance(STEP_S), timer=clock, min_run_time=64 * STEP_S)
    assert measured.runs_per_sample == 1
    assert measured.samples_s == (STEP_S,) * 64
    assert (measured.median_s, measured.mean_s, measured.iqr_s) == (STEP_S, STEP_S, 0)


def test_a_costly_clock_makes_blocks_longer() -> None:
    quick, slow = FakeClock(), FakeClock(tick_s=STEP_S / 2**6)
    plain = measure(lambda: quick.advance(STEP_S), timer=quick, min_run_time=256 * STEP_S)
    blocked = measure(lambda: slow.advance(STEP_S), timer=slow, min_run_time=256 * STEP_S)
    assert plain.runs_per_sample == 1
    assert blocked.runs_per_sample == 1000
    assert blocked.median_s == pytest.approx(STEP_S, rel=1e-4)


def test_a_statement_finds_its_names_in_globals_and_setup() -> None:
    clock = FakeClock()
    measured = measure("advance(step)", "step = 0.5", globals={"advance": clock.advance}, timer=clock, min_run_time=2)
    assert measured.samples_s == (0.5,) * 4


def test_a_name_that_timer_cannot_see_is_explained() -> None:
    with pytest.raises(UsageError, match=r"globals=\{'batched_dot': batched_dot\}"):
        measure("batched_dot(1, 2)")


def test_a_name_error_of_the_timed_function_itself_passes_through() -> None:
    def broken() -> object:
        return missing  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="missing"):
        measure(broken)


def test_the_words_of_timer_reach_its_measurement() -> None:
    clock = FakeClock()
    measured = measure(
        "advance(1)",
        globals={"advance": clock.advance},
        label="dot",
        sub_label="mul-sum",
        description="n = 64",
        env="today",
        num_threads=2,
        timer=clock,
    )
    spec = measured.measurement.task_spec
    assert (spec.label, spec.sub_label, spec.description, spec.env) == ("dot", "mul-sum", "n = 64", "today")
    assert (spec.stmt, spec.num_threads) == ("advance(1)", 2)


def test_a_function_is_labelled_with_its_name() -> None:
    clock = FakeClock()

    def dot() -> None:
        clock.advance(1)

    assert measure(dot, timer=clock).measurement.label == "dot"
    assert measure(dot, label="other", timer=clock).measurement.label == "other"


def test_adaptive_measures_until_the_spread_is_small() -> None:
    clock = FakeClock()
    steps_s = iter([1.0] * 20 + [1.0, 2.0, 3.0, 4.0] + [2.0] * 1000)
    measured = measure(
        lambda: clock.advance(next(steps_s)),
        timer=clock,
        adaptive=True,
        min_run_time=4,
        threshold=0.1,
        max_run_time=1000,
    )
    assert measured.iqr_s / measured.median_s < 0.1


def test_one_sample_has_no_known_spread() -> None:
    clock = FakeClock()
    measured = measure(lambda: clock.advance(0.5), timer=clock, min_run_time=0.2)
    assert isnan(measured.iqr_s)
    assert measured.describe() == "median 500 ms, 1 sample of 1 run"


def test_a_measurement_is_described_in_one_line() -> None:
    clock = FakeClock()
    measured = measure(lambda: clock.advance(0.25), timer=clock, min_run_time=2)
    assert measured.describe() == "median 250 ms, IQR 0 %, 8 samples of 1 run"


def test_a_measurement_keeps_its_environment_through_pickling() -> None:
    clock = FakeClock()
    measured = measure(lambda: clock.advance(1), timer=clock)
    again = pickle.loads(pickle.dumps(measured))  # noqa: S301 - our own bytes
    assert again.environment == measured.environment == Environment.capture()
    assert again.samples_s == measured.samples_s


def test_real_code_takes_real_time() -> None:
    measured = measure("sum(values)", globals={"values": list(range(100))}, min_run_time=0.005)
    assert measured.median_s > 0
    assert len(measured.samples_s) >= 1
