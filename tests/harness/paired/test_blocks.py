import gc

import pytest

from harness.errors import UsageError
from harness.machine.clocks import FakeClock
from harness.paired.blocks import BLOCK_S, calibrate, common_calls, gc_off_one_thread, timing_loop
from harness.paired.rounds import Reading


def test_a_block_costs_what_its_calls_cost() -> None:
    clock = FakeClock()
    loop = timing_loop("clock.advance(0.5)", globals={"clock": clock}, clock=clock, wall=clock)
    assert loop(4) == Reading(2.0, 2.0, calls=4)


def test_a_function_is_called_without_arguments() -> None:
    clock = FakeClock()
    loop = timing_loop(lambda: clock.advance(0.25), clock=clock, wall=clock)
    assert loop(4) == Reading(1.0, 1.0, calls=4)


def test_cpu_and_wall_time_are_read_from_their_own_clocks() -> None:
    cpu, wall = FakeClock(), FakeClock()
    loop = timing_loop("cpu.advance(1); wall.advance(3)", globals={"cpu": cpu, "wall": wall}, clock=cpu, wall=wall)
    assert loop(2) == Reading(2.0, 6.0, calls=2)


def test_a_block_without_cpu_time_costs_its_wall_time() -> None:
    still, wall = FakeClock(), FakeClock()
    loop = timing_loop("wall.advance(3)", globals={"wall": wall}, clock=still, wall=wall)
    assert loop(2) == Reading(6.0, 6.0, calls=2)


def test_the_setup_runs_once_and_its_time_does_not_count() -> None:
    clock = FakeClock()
    runs: list[int] = []
    loop = timing_loop(
        "clock.advance(step)",
        setup="runs.append(1)\nclock.advance(100)\nstep = 0.5",
        globals={"clock": clock, "runs": runs},
        clock=clock,
        wall=clock,
    )
    assert [loop(1), loop(1)] == [Reading(0.5, 0.5)] * 2
    assert runs == [1]


def test_statements_keep_their_own_lines_and_strings() -> None:
    clock = FakeClock()
    seen: list[str] = []
    loop = timing_loop(
        'if True:\n    text = """a\nb"""\nseen.append(text); clock.advance(1)',
        setup="# nothing to do",
        globals={"clock": clock, "seen": seen},
        clock=clock,
        wall=clock,
    )
    loop(1)
    assert seen == ["a\nb"]


def test_globals_are_not_changed() -> None:
    names = {"clock": FakeClock()}
    timing_loop("pass", setup="global extra; extra = 1", globals=names)
    assert list(names) == ["clock"]


@pytest.mark.parametrize("broken", ["1 +", "break", "return 3", "yield 3", "from math import *", "a\0b"])
def test_the_error_for_invalid_code_is_one_sentence(broken: str) -> None:
    with pytest.raises(UsageError, match="is not valid Python"):
        timing_loop(broken)
    with pytest.raises(UsageError, match="is not valid Python"):
        timing_loop("pass", setup=broken)


def test_an_exception_of_the_code_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        timing_loop("1 / 0")(1)
    with pytest.raises(KeyError):
        timing_loop("pass", setup="{}['x']")


@pytest.mark.parametrize("call_s", [BLOCK_S / 64, BLOCK_S / 8, BLOCK_S / 3, BLOCK_S, BLOCK_S * 7])
def test_calibration_fills_a_block_or_makes_one_call(call_s: float) -> None:
    clock = FakeClock()
    loop = timing_loop("clock.advance(call_s)", globals={"clock": clock, "call_s": call_s}, clock=clock, wall=clock)
    block = calibrate(loop)
    assert block.calls == max(1, round(BLOCK_S / call_s))
    assert block.wall_s == pytest.approx(block.calls * call_s)


def test_an_interruption_does_not_change_the_calibration() -> None:
    clock = FakeClock()
    calls = iter(range(10**6))

    def interrupted_at_first() -> None:
        clock.advance(5e-3 if next(calls) in {0, 1, 5} else BLOCK_S / 10)

    assert calibrate(timing_loop(interrupted_at_first, clock=clock, wall=clock)).calls == 10


def test_long_interruptions_without_cpu_time_do_not_change_the_calibration() -> None:
    wall, cpu = FakeClock(), FakeClock()
    calls = iter(range(10**6))

    def interrupted_at_first() -> None:
        wall.advance(30e-3 if next(calls) in {1, 2} else BLOCK_S / 10)
        cpu.advance(BLOCK_S / 10)

    assert calibrate(timing_loop(interrupted_at_first, clock=cpu, wall=wall)).calls == 10


def test_a_long_call_without_cpu_time_is_tried_four_times_at_most() -> None:
    wall, cpu = FakeClock(), FakeClock()
    calls: list[int] = []

    def asleep() -> None:
        calls.append(1)
        wall.advance(0.5)
        cpu.advance(1e-5)

    assert calibrate(timing_loop(asleep, clock=cpu, wall=wall)).calls == 1
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("one", "other", "common"), [(2, 3, (3, 3)), (4, 8, (6, 6)), (1, 2, (2, 2)), (1, 9, (1, 9)), (7, 7, (7, 7))]
)
def test_similar_numbers_of_calls_become_equal(one: int, other: int, common: tuple[int, int]) -> None:
    assert common_calls(one, other) == common
    assert common_calls(other, one) == common[::-1]


def test_a_long_call_is_tried_twice_at_most() -> None:
    clock = FakeClock()
    calls: list[int] = []

    def slow() -> None:
        calls.append(1)
        clock.advance(0.5)

    calibrate(timing_loop(slow, clock=clock, wall=clock))
    assert len(calls) == 2


def test_garbage_collection_is_off_in_the_block_and_on_again_after_it() -> None:
    assert gc.isenabled()
    with gc_off_one_thread():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="x"), gc_off_one_thread():
        raise ValueError("x")
    assert gc.isenabled()


def test_garbage_collection_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_off_one_thread():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_torch_uses_one_thread_in_the_block_and_as_many_as_before_after_it() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with gc_off_one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
