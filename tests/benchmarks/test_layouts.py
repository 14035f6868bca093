import math
import sys

import pytest
from forks import WarmProcess
from layouts import KINDS, WAYS, Played, Way, summed_up, table

from harness.machine import clocks
from harness.paired.paired_process import PairedProcess, PairedProcessError, stop_all
from harness.paired.paired_process_main import make_job
from harness.paired.process_pairs import timed_worker


def test_a_way_changes_nothing_but_what_it_names() -> None:
    plain = Way("plain").environment(0)
    assert Way("other", {"PYTHONMALLOC": "malloc", "MALLOC_TRIM_THRESHOLD_": None}).environment(3) == {
        name: value for name, value in plain.items() if name != "MALLOC_TRIM_THRESHOLD_"
    } | {"PYTHONMALLOC": "malloc"}


def test_padding_gives_both_twins_of_a_turn_the_same_size_and_turns_several() -> None:
    padded = Way("padded", padding=True)
    sizes = [len(padded.environment(turn)["PADDING"]) for turn in range(8)]
    assert sizes == [0, 1024, 2048, 3072] * 2
    assert padded.environment(1) == padded.environment(1)


def test_the_table_sums_errors_up_by_way_and_kind() -> None:
    played = [Played("a", "dict", error, 0.002) for error in (0.003, -0.004, 0.03)] + [Played("b", "dict", 0.0, 0.0)]
    for kind in ("dict", "all kinds together"):
        shown = table(kind, (Way("a"), Way("b")), played)
        names = [column.name for column in shown.columns]
        one, other = (dict(zip(names, row, strict=True)) for row in shown.rows)
        assert one["pairs"] == 3
        assert one["rms"] == pytest.approx(math.sqrt((0.003**2 + 0.004**2 + 0.03**2) / 3))
        assert one["worst"] == 0.03
        assert one["beyond 1 %"] == pytest.approx(1 / 3)
        assert one["rounds alone"] == pytest.approx(0.001)
        assert other["rms"] == 0.0


def test_the_error_is_the_median_and_halves_interleave() -> None:
    summed = summed_up("way", "dict", [0.01, 0.03, 0.01, 0.03, 0.01])
    assert [summed.error, summed.halves] == pytest.approx([0.01, -0.02])


def test_every_kind_of_work_is_named_once_and_every_way() -> None:
    assert len({way.name for way in WAYS}) == len(WAYS)
    assert all(statement and setup for statement, setup in KINDS.values())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks, and reads their clocks")
def test_forks_of_a_warm_process_serve_as_twins() -> None:
    warm = WarmProcess(Way("plain").environment(0))
    forks = [
        PairedProcess("fork", make_job("sum(range(1000))", "import sys; assert 'torch' in sys.modules"), warm.fork())
        for _ in "ab"
    ]
    try:
        for one in forks:
            one.wait_until_ready()
            with timed_worker(one, None, None, clocks.wall) as timed:
                assert timed.turn(100).wall_s > 0
        assert forks[0].pid != forks[1].pid
        forks[0].prepare(make_job("1 / 0", "pass"))
        forks[0].wait_until_ready()
        with pytest.raises(PairedProcessError, match="ZeroDivisionError"):
            forks[0].run_calls(1)
    finally:
        stop_all(forks)
        warm.end()
