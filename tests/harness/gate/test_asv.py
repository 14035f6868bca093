"""The timing benchmarks of asv are tests, with their setup, parameters and caches."""

from collections.abc import Iterator

import pytest
from side_process import Side

BENCHMARKS = """\
import os
from .common import Base, LETTERS

def setup(*parameters):
    LETTERS.append("m")

def time_letters():
    LETTERS[0]

class TimeSorting(Base):
    params = ([1, 2], ["a"])
    param_names = ["size", "letter"]
    number = 1

    def setup(self, size, letter):
        self.words = [letter, "0"] * size

    def time_sort(self, size, letter):
        assert self.words[0] == letter, "setup has not run before this call"
        self.words.sort()

class Cached:
    params = [3, 4]
    def setup_cache(self):
        with open("made.txt", "x") as file:
            file.write("once")
        return {"made": [1]}

    def setup(self, cache, number):
        if number == 4:
            raise NotImplementedError("no 4")
        assert cache == {"made": [1]}
        cache["made"].append(2)

    def time_cached(self, cache, number):
        assert os.path.exists("made.txt")
        assert cache["made"] == [1, 2]

    def time_again(self, cache, number):
        assert cache["made"] == [1, 2]

    def track_size(self):
        return 1
"""


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    folder = tmp_path_factory.mktemp("asv")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").touch()
    (folder / "benchmarks" / "common.py").write_text("LETTERS = ['a']\nclass Base: pass\n")
    (folder / "benchmarks" / "suite.py").write_text(BENCHMARKS)
    found = Side(folder, "--duel-asv", "benchmarks", "benchmarks")
    with found.child:
        yield found


def test_each_combination_of_parameters_is_a_test(side: Side) -> None:
    assert side.collected["benchmarks"] == [
        f"benchmarks/suite.py::{name}"
        for name in (
            "time_letters",
            "TimeSorting.time_sort[1-'a']",
            "TimeSorting.time_sort[2-'a']",
            "Cached.time_again[3]",
            "Cached.time_again[4]",
            "Cached.time_cached[3]",
            "Cached.time_cached[4]",
        )
    ]


@pytest.mark.parametrize(
    "name", ["time_letters", "TimeSorting.time_sort[2-'a']", "Cached.time_again[3]", "Cached.time_cached[3]"]
)
def test_setup_and_caches_are_those_of_asv(side: Side, name: str) -> None:
    side.start(f"benchmarks/suite.py::{name}")
    assert side.block(5)["cpu_s"] > 0
    side.end()


def test_a_setup_that_is_not_implemented_skips_the_combination(side: Side) -> None:
    answer = side.fail(item="benchmarks/suite.py::Cached.time_cached[4]")
    assert answer["kind"] == "skipped"
    assert "no 4" in answer["message"]
