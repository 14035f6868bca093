"""Several C++ benchmarks in one library: which ones are compiled together, left out, or not compiled again."""

import re
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from torch.utils.benchmark import Language

from harness.storage.disk_cache import FOLDER_VARIABLE
from harness.suite import TimerArgs, cpp
from harness.suite.expand import Benchmark


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


def work(stmt: str, *, name: str = "a", global_setup: str = "", threads: int = 1) -> Benchmark:
    return Benchmark((name,), "Eager", "Forward", TimerArgs(stmt, "", global_setup, threads, Language.CPP))


class Compiler:
    """A fake compiler that records its sources, and refuses the word nonsense, with or without the function's name."""

    def __init__(self, *, names_it: bool = True) -> None:
        self.sources: list[str] = []
        self._names_it = names_it

    def __call__(self, source: str, library: Path) -> str:
        self.sources.append(source)
        before, found, _ = source.partition("nonsense")
        if found:
            return f"{re.findall('benchmark_[0-9a-f]+', before)[-1] if self._names_it else 'x'}.stmt:1: error: nonsense"
        library.write_text("library", encoding="utf-8")
        return ""

    def build(self, works: list[Benchmark], jobs: int = 1, *done: Callable[[int], None]) -> dict[Benchmark, str]:
        with mock.patch.object(cpp, "compile_library", self):
            return cpp.build(works, jobs, *done)

    @property
    def sizes(self) -> list[int]:
        return [source.count('extern "C"') for source in self.sources]


def test_benchmarks_share_a_library_unless_they_are_too_many_or_several_cores_compile() -> None:
    for number, jobs, sizes in [(cpp.BATCH, 1, [16]), (cpp.BATCH + 2, 1, [9, 9]), (8, 2, [4, 4]), (7, 2, [7])]:
        compiler, works = Compiler(), [work(f"x + {n + 100 * number};") for n in range(number)]
        assert compiler.build(works, jobs) == {}
        assert compiler.sizes == sizes
        assert len({cpp.library_of(each) for each in works if cpp.library_of(each).exists()}) == len(works)


def test_a_built_benchmark_is_not_built_again_and_the_same_code_only_once() -> None:
    compiler = Compiler()
    compiler.build([work("x;"), work("x;", name="b"), work("x;", threads=2)])
    compiler.build([work("x;"), work("y;"), Benchmark(("in Python",), "", "", TimerArgs("x"))])
    assert compiler.sizes == [1, 1]


def test_a_benchmark_that_does_not_compile_is_left_out_and_reported() -> None:
    for name, names_it in (("x", True), ("y", False)):
        works = [work(f"{name} + {n};") for n in range(4)] + [work("nonsense;")]
        done: list[int] = []
        (failure,) = Compiler(names_it=names_it).build(works, 1, done.append).items()
        assert failure[0] == works[-1]
        assert "error: nonsense" in failure[1]
        assert [cpp.library_of(each).exists() for each in works] == [True] * 4 + [False]
        assert sum(done) == len(works)


def test_a_global_setup_comes_before_all_functions_and_its_code_stays_with_its_benchmarks() -> None:
    compiler, own = Compiler(), "int f() { return 1; }"
    setups = {"x;": "#include <a>\n", "y;": "#include <b>", "z;": "", "f();": own}
    compiler.build([work(stmt, global_setup=text) for stmt, text in setups.items()])
    together, apart = compiler.sources
    assert compiler.sizes == [3, 1]
    assert together.index("#include <a>") < together.index("#include <b>") < together.index('extern "C"')
    assert own not in together
    assert apart.index(own) < apart.index('extern "C"')
