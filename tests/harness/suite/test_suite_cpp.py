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


def work(stmt: str, *, name: str = "a", setup: str = "", global_setup: str = "", threads: int = 1) -> Benchmark:
    return Benchmark((name,), "Eager", "Forward", TimerArgs(stmt, setup, global_setup, threads, Language.CPP))


class Compiler:
    """A fake compiler that records its sources and refuses a source with one of these words."""

    def __init__(self, refuses: str = "", *, names_it: bool = True) -> None:
        self.sources: list[str] = []
        self._refuses, self._names_it = refuses, names_it

    def __call__(self, source: str, library: Path) -> str:
        self.sources.append(source)
        if self._refuses and self._refuses in source:
            before = source[: source.index(self._refuses)]
            where = re.findall(r"benchmark_\w+", before)[-1] if self._names_it else "somewhere"
            return f"{where}.stmt:1:1: error: unknown name {self._refuses}\n"
        library.write_text("library", encoding="utf-8")
        return ""


def build(works: list[Benchmark], jobs: int, compiler: Compiler, *done: Callable[[int], None]) -> dict[Benchmark, str]:
    with mock.patch.object(cpp, "compile_library", compiler):
        return cpp.build(works, jobs, *done)


def test_benchmarks_share_a_library_unless_they_are_too_many_or_several_cores_compile() -> None:
    compiler = Compiler()
    works = [work(f"x + {n};") for n in range(cpp.BATCH)]
    assert build(works, 1, compiler) == {}
    assert len(compiler.sources) == 1
    assert len({cpp.library_of(each) for each in works}) == len(works)
    assert all(cpp.library_of(each).read_text(encoding="utf-8") == "library" for each in works)
    for name, number, jobs, sizes in [("y", cpp.BATCH + 2, 1, [9, 9]), ("z", 8, 2, [4, 4]), ("w", 7, 2, [7])]:
        compiler = Compiler()
        build([work(f"{name} + {n};") for n in range(number)], jobs, compiler)
        assert [source.count('extern "C"') for source in compiler.sources] == sizes


def test_a_built_benchmark_is_not_built_again_and_the_same_code_only_once() -> None:
    compiler = Compiler()
    build([work("x;"), work("x;", name="b"), work("x;", threads=2)], 1, compiler)
    build([work("x;"), work("y;"), Benchmark(("in Python",), "", "", TimerArgs("x"))], 1, compiler)
    assert [source.count('extern "C"') for source in compiler.sources] == [1, 1]


def test_a_benchmark_that_does_not_compile_is_left_out_and_reported() -> None:
    for name, names_it in (("x", True), ("y", False)):
        works = [work(f"{name} + {n};") for n in range(4)] + [work("nonsense;")]
        done: list[int] = []
        failures = build(works, 1, Compiler("nonsense", names_it=names_it), done.append)
        assert list(failures) == works[-1:]
        assert "unknown name nonsense" in failures[works[-1]]
        assert [cpp.library_of(each).exists() for each in works] == [True] * 4 + [False]
        assert sum(done) == len(works)


def test_a_global_setup_comes_before_all_functions_and_its_code_stays_with_its_benchmarks() -> None:
    compiler = Compiler()
    works = [
        work("x;", global_setup="#include <a>\n"),
        work("y;", global_setup="#include <b>"),
        work("z;"),
        work("f();", global_setup="int f() { return 1; }"),
    ]
    build(works, 1, compiler)
    together, apart = compiler.sources
    assert together.index("#include <a>") < together.index("#include <b>") < together.index('extern "C"')
    assert together.count('extern "C"') == 3
    assert "int f()" not in together
    assert apart.index("int f() { return 1; }") < apart.index('extern "C"')
    assert apart.count('extern "C"') == 1
