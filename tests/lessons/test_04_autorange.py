import importlib
import math
import os
from pathlib import Path
from random import Random
from statistics import mean

import pytest
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from lessons.engine.command import run_command
from lessons.engine.lesson import Lesson

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.04_autorange").lesson
    assert isinstance(whole, Lesson)
    return whole


def burners() -> list[str]:
    """Return the command lines of all processes that look like the lesson's neighbours."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_text(errors="replace")
        except OSError:
            continue  # it ended while we looked
        if "time() % 0.1" in line:
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fats"], "No such option: --fats"),
        (["--json", "/nowhere/claims.json"], "/nowhere/claims.json cannot be written"),
        (["--json", "."], ". cannot be written"),
        (["--notebook", "/nowhere/lesson.ipynb"], "/nowhere/lesson.ipynb cannot be written"),
        (["--plots", os.devnull], "cannot be written"),
        (["surplus"], "surplus"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    lesson: Lesson, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(lesson, arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert sentence in err


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see other processes")
def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    module = importlib.import_module("lessons.04_autorange")
    with pytest.raises(ZeroDivisionError), module.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    assert burners() == []


@pytest.mark.parametrize(
    ("further", "option"),
    [([0.1, 0.3], "a"), ([-0.1, -0.3], "b"), ([0.01, -0.01], "c"), ([0.1, -0.1], None)],
)
def test_the_rounds_decide_together_which_figure_moved(further: list[float], option: str | None) -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert module.which_moved(further) == option
    assert option in module.WHY_MOVED


def test_what_chance_explains_is_what_blocks_of_one_kind_differ_by() -> None:
    """Answers drawn from one distribution lie, on average, as far apart as is said."""
    module = importlib.import_module("lessons.04_autorange")
    draws, spec = Random(5), TaskSpec(stmt="pass", setup="pass")
    shares = []
    for _ in range(400):
        answers = [Measurement(1, [draws.gauss(1, 0.02) for _ in range(30)], spec) for _ in range(5)]
        shares.append(module.apart(answers) / module.by_chance(answers)[0])
    assert mean(shares) == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize("apart", [1.0, 1.001])
def test_two_answers_that_lie_close_refute_nothing(apart: float) -> None:
    module = importlib.import_module("lessons.04_autorange")
    spec = TaskSpec(stmt="pass", setup="pass")
    answers = [Measurement(1, [middle + 0.01 * step for step in range(-4, 5)], spec) for middle in (1.0, apart)]
    times, doubt, _ = module.wandered(answers)
    assert times < 0.1
    assert times + doubt >= 2


def test_where_no_answer_became_steady_nothing_is_said() -> None:
    module = importlib.import_module("lessons.04_autorange")
    times, doubt, _ = module.wandered([])
    assert math.isnan(times)
    assert doubt == 0.0


def blocks_of(seconds: float, number: int) -> Measurement:
    """An answer of this many blocks, all alike."""
    return Measurement(1, [seconds] * number, TaskSpec(stmt="pass", setup="pass"))


def test_an_answer_that_ran_out_of_time_did_not_become_steady() -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert module.became_steady([blocks_of(0.06, 3)]) == []
    assert len(module.became_steady([blocks_of(0.06, 4)])) == 1


@pytest.mark.parametrize(("block_s", "says_something"), [(0.005, True), (0.06, False)])
def test_where_torch_chose_long_blocks_nothing_is_said_of_how_long_it_takes(
    block_s: float, says_something: bool
) -> None:
    module = importlib.import_module("lessons.04_autorange")
    part, _ = module.part_spent([blocks_of(block_s, 4)] * 3, whole_s=0.217)
    assert math.isnan(part) != says_something


def test_answers_of_one_block_each_have_no_spread_to_compare_with() -> None:
    module = importlib.import_module("lessons.04_autorange")
    spec = TaskSpec(stmt="pass", setup="pass")
    answers = [Measurement(1, [seconds], spec) for seconds in (1.0, 1.5, 2.0)]
    times, doubt, explained = module.wandered(answers)
    assert math.isnan(times)
    assert math.isnan(explained)
    assert doubt == 0.0


def test_of_one_answer_nothing_is_known() -> None:
    module = importlib.import_module("lessons.04_autorange")
    one = Measurement(1, [1.0, 2.0, 3.0], TaskSpec(stmt="pass", setup="pass"))
    assert math.isnan(module.by_chance([one])[0])
    assert math.isnan(module.apart([]))
