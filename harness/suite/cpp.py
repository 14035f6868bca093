"""Compile C++ benchmarks, several as one library, because reading torch's headers takes most of the time."""

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

import numpy as np
from torch.utils import cpp_extension
from torch.utils.benchmark.utils import cpp_jit

from harness.callgrind import tools
from harness.storage import disk_cache
from harness.suite.expand import Benchmark

# The largest number of benchmarks per library, and the smallest if several are compiled at the same time. Reading
# torch's headers takes 20 s, and compiling a benchmark 0.5 to 1.5 s.
BATCH, LEAST = 16, 4

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

# Only the loop of the benchmark and two short calls are counted.
_GAUGE: Final = """
namespace {

// Counts the runs of one benchmark: first some to warm up, then the requested repeats.
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


def function_name(benchmark: Benchmark) -> str:
    """Return a benchmark's name in its library and in the cache, a digest of all that changes its machine code."""
    args = benchmark.args
    code = [args.stmt, args.setup, args.global_setup, _PRELUDE, _GAUGE, _FUNCTION, *command()]
    depends_on = {"code": code, **tools.software(compiles=True)}
    return f"benchmark_{disk_cache.digest(depends_on)}"


def library_of(benchmark: Benchmark) -> Path:
    """Return the path of the library that contains a benchmark. The library may not exist yet."""
    return disk_cache.folder() / "cpp" / f"{function_name(benchmark)}.so"


def build(benchmarks: Sequence[Benchmark], jobs: int, done: Callable[[int], None]) -> dict[Benchmark, str]:
    """Compile the C++ benchmarks that are not in the cache. Return the error message of each benchmark that fails.

    `jobs` libraries are compiled at the same time. After each one, `done` gets the number of its benchmarks.
    """
    failures: dict[str, str] = {}
    names = {benchmark: function_name(benchmark) for benchmark in benchmarks if benchmark.is_cpp}
    missing = {name: benchmark for benchmark, name in names.items() if not library_of(benchmark).exists()}
    batches = list(_batches(missing, jobs))
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        for batch, found in zip(batches, pool.map(_build, batches), strict=True):
            failures |= found
            done(len(batch))
    return {benchmark: failures[name] for benchmark, name in names.items() if name in failures}


def _batches(missing: Mapping[str, Benchmark], jobs: int) -> Iterator[dict[str, Benchmark]]:
    # The global setups of a group are all equal, or they all contain only includes.
    groups: dict[str, list[str]] = {}
    for name, benchmark in missing.items():
        groups.setdefault(_own_globals(benchmark), []).append(name)
    for names in groups.values():
        shares = max(1, -(-len(names) // BATCH), min(jobs, len(names) // LEAST))
        for part in np.array_split(names, shares):
            yield {str(name): missing[name] for name in part}


def _own_globals(benchmark: Benchmark) -> str:
    lines = benchmark.args.global_setup.strip().splitlines()
    return "" if all(not line.strip() or _INCLUDE.fullmatch(line) for line in lines) else "\n".join(lines)


def _build(batch: Mapping[str, Benchmark]) -> dict[str, str]:
    folder = disk_cache.made(disk_cache.folder() / "cpp")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as temporary:
        library = Path(temporary) / "library.so"
        messages = compile_library(source_of(batch), library) if batch else ""
        if not messages:
            for name in batch:
                link = Path(temporary) / name
                os.link(library, link)
                link.replace(folder / f"{name}.so")
            return {}
    wrong = {name: _first_error(messages, name) for name in batch if name in messages or len(batch) == 1}
    names = [name for name in batch if name not in wrong]
    parts = [names] if wrong else [names[::2], names[1::2]]
    for part in parts:
        wrong |= _build({name: batch[name] for name in part})
    return wrong


def source_of(batch: Mapping[str, Benchmark]) -> str:
    """Return the C++ source code of a library. `batch` maps the names of its functions to benchmarks."""
    headers: dict[str, None] = {}
    functions = []
    for name, benchmark in batch.items():
        args, code = benchmark.args, _own_globals(benchmark)
        # Benchmarks of a library that contain more than includes have the same global setup.
        headers |= dict.fromkeys([code] if code else map(str.strip, args.global_setup.splitlines()))
        functions.append(_FUNCTION.format(name=name, setup="" if args.setup == "pass" else args.setup, stmt=args.stmt))
    return "\n".join([_PRELUDE, *headers, _GAUGE, *functions])


def compile_library(source: str, library: Path) -> str:
    """Compile a source text to the library. Return the compiler's error messages, or ""."""
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
    """Return the compiler's command with torch's flags, but without `-g`: torch's wheels have no debug information."""
    flags = [flag for flag in cpp_jit.CXX_FLAGS or ("-O2",) if flag != "-g"]
    folders = [*cpp_extension.include_paths(), *cpp_jit.EXTRA_INCLUDE_PATHS]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    return (*compiler, *flags, "-std=c++20", "-fPIC", "-w", *(f"-I{folder}" for folder in folders))


def _first_error(messages: str, name: str) -> str:
    errors = [line for line in messages.splitlines() if "error" in line] or messages.splitlines()
    first = next((line for line in errors if name in line), errors[0])
    return f"does not compile: {re.sub(r'benchmark_[0-9a-f]+[.]', '', first)}"
