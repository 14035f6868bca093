"""C++ benchmarks compiled: several in one library, since torch's headers take longer to read than all of them together.

Each benchmark is a function of its own, named by a digest of its code. The library is kept in the user's cache folder
under every one of these names, so a benchmark is compiled again only when it, torch or the compiler has changed. One
that does not compile is found by the compiler's own messages and left out; the others are compiled without it.
"""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache as once
from pathlib import Path
from typing import Final

import torch
from torch.utils import cpp_extension
from torch.utils.benchmark.utils import cpp_jit

from harness import disk_cache
from harness.callgrind import tools
from harness.suite.work import Work

BATCH: Final = 16
"""Benchmarks in one library: reading the headers takes 20 s, and each of these half a second to a second and a half."""

LEAST: Final = 4
"""Fewer are not worth reading the headers once more, idle core or not."""

_INCLUDE: Final = re.compile(r"\s*#\s*include\b.*")

_PRELUDE: Final = """\
#include <torch/torch.h>
#include <callgrind.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
"""

_GAUGE: Final = """
namespace {

// Counts down the runs of one benchmark: first some to warm up, then as many repeats as are asked for.
struct Gauge {
  int64_t number, repeats;
  bool counting;
  double* seconds;
  bool warm = false;
  std::chrono::steady_clock::time_point began;

  bool more() const { return !warm || repeats > 0; }
  int64_t begin() {
    if (!warm) return std::min<int64_t>(number, 10);
    began = std::chrono::steady_clock::now();
    if (counting) { CALLGRIND_TOGGLE_COLLECT; }
    return number;
  }
  void end() {
    if (!warm) { warm = true; return; }
    if (counting) {
      CALLGRIND_TOGGLE_COLLECT;
      CALLGRIND_DUMP_STATS;
    }
    *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    --repeats;
  }
};

thread_local std::string failure;

}  // namespace
"""
"""The counted region of a benchmark holds its loop, and two calls of next to nothing."""

_FUNCTION: Final = """
extern "C" const char* {name}(int64_t g_number, int64_t g_repeats, bool g_counting, double* g_seconds) {{
  try {{
    Gauge gauge{{g_number, g_repeats, g_counting, g_seconds}};
#line 1 "{name}.setup"
{setup}
    while (gauge.more()) {{
      for (int64_t g_left = gauge.begin(); g_left > 0; --g_left) {{
#line 1 "{name}.stmt"
{stmt}
      }}
      gauge.end();
    }}
    return nullptr;
  }} catch (const std::exception& error) {{
    failure = error.what();
    return failure.c_str();
  }}
}}
"""

Compiler = Callable[[str, Path], str]
"""Compiles a source text to a library at a path; returns "" or what the compiler complained about."""


def name_of(work: Work) -> str:
    """The name of a benchmark's function and of its library: a digest of all that its machine code depends on."""
    args = work.args
    depends_on = {
        "code": [args.stmt, args.setup, args.global_setup, _PRELUDE, _GAUGE, _FUNCTION],
        "torch": [torch.__version__, torch.version.git_version],
        "compiler": [*command(), tools.compiler_version(command()[0])],
    }
    return f"benchmark_{disk_cache.digest(depends_on)}"


def library_of(work: Work) -> Path:
    """Where the library with a benchmark lies once it is built."""
    return disk_cache.folder() / "cpp" / f"{name_of(work)}.so"


def build(
    works: Sequence[Work], jobs: int, done: Callable[[int], None] = lambda _: None, compiler: "Compiler | None" = None
) -> dict[Work, str]:
    """Compile the benchmarks that are not in the cache, `jobs` libraries at a time; return why some could not be.

    `done` is told how many more benchmarks are settled. Benchmarks with the same code are compiled once.
    """
    failures: dict[str, str] = {}
    missing = {name_of(work): work for work in works if work.is_cpp and not library_of(work).exists()}
    batches = list(_batches(missing, jobs))
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        for found in pool.map(lambda batch: _build(batch, compiler or compile_library, done), batches):
            failures |= found
    return {work: failures[name_of(work)] for work in works if work.is_cpp and name_of(work) in failures}


def _batches(missing: Mapping[str, Work], jobs: int) -> Iterator[dict[str, Work]]:
    """Benchmarks with the same global setup together; one that merely includes headers gets along with all others."""
    groups: dict[str, dict[str, Work]] = {}
    for name, work in missing.items():
        groups.setdefault(_own_globals(work), {})[name] = work
    for group in groups.values():
        names = list(group)
        shares = max(1, -(-len(names) // BATCH), min(jobs, len(names) // LEAST))
        size = -(-len(names) // shares)
        for start in range(0, len(names), size):
            yield {name: group[name] for name in names[start : start + size]}


def _own_globals(work: Work) -> str:
    lines = work.args.global_setup.strip().splitlines()
    return "" if all(not line.strip() or _INCLUDE.fullmatch(line) for line in lines) else "\n".join(lines)


def _build(batch: Mapping[str, Work], compiler: Compiler, done: Callable[[int], None]) -> dict[str, str]:
    """Compile one library, without those that the compiler complains about; return its complaints by name."""
    failures: dict[str, str] = {}
    rest = dict(batch)
    while rest:
        said = _compile(rest, compiler)
        if not said:
            break
        wrong = {name: _complaint(said, name) for name in rest if name in said}
        if not wrong and len(rest) > 1:
            names = list(rest)
            for half in (names[::2], names[1::2]):
                failures |= _build({name: rest[name] for name in half}, compiler, lambda _: None)
            break
        wrong = wrong or {name: _complaint(said, "") for name in rest}
        failures |= wrong
        rest = {name: work for name, work in rest.items() if name not in wrong}
    done(len(batch))
    return failures


def _compile(batch: Mapping[str, Work], compiler: Compiler) -> str:
    folder = disk_cache.made(disk_cache.folder() / "cpp")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as temporary:
        library = Path(temporary) / "library.so"
        said = compiler(source_of(batch), library)
        if not said:
            for name in batch:
                link = Path(temporary) / name
                os.link(library, link)
                link.replace(folder / f"{name}.so")
    return said


def source_of(batch: Mapping[str, Work]) -> str:
    """The source of a library with these benchmarks, each under its name."""
    headers: dict[str, None] = {}
    code = ""
    for work in batch.values():
        own = _own_globals(work)
        code = own or code
        if not own:
            headers |= dict.fromkeys(line.strip() for line in work.args.global_setup.splitlines() if line.strip())
    functions = (
        _FUNCTION.format(name=name, setup=work.args.setup, stmt=work.args.stmt) for name, work in batch.items()
    )
    return "\n".join([_PRELUDE, *headers, code, _GAUGE, *functions])


def compile_library(source: str, library: Path) -> str:
    """Compile a source text; return "" or what the compiler said."""
    file = library.with_suffix(".cpp")
    file.write_text(source, encoding="utf-8")
    torch_libraries = [f"-L{folder}" for folder in cpp_extension.library_paths()]
    done = subprocess.run(
        [*command(), "-shared", str(file), "-o", str(library), *torch_libraries, "-lc10", "-ltorch_cpu", "-ltorch"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if not done.returncode else done.stderr or f"the compiler ended with {done.returncode}"


@once
def command() -> tuple[str, ...]:
    """The compiler with torch's own flags, but without debug information: torch's wheels have none either."""
    flags = [flag for flag in cpp_jit.CXX_FLAGS or ("-O2",) if flag != "-g"]
    folders = [*cpp_extension.include_paths(), *cpp_jit.EXTRA_INCLUDE_PATHS]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    return (*compiler, *flags, "-std=c++20", "-fPIC", "-w", *(f"-I{folder}" for folder in folders))


def _complaint(said: str, name: str) -> str:
    """The first error that mentions this benchmark, without its long name."""
    lines = said.splitlines()
    errors = [line for line in lines if "error" in line]
    mine = [line for line in errors if name in line] or errors or lines or ["it said nothing"]
    return f"does not compile: {re.sub(r'benchmark_[0-9a-f]+[.]', '', mine[0])}"
