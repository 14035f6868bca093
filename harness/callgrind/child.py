"""Collections in a process of their own: `python -m harness.callgrind.child SNIPPETS ANSWER`, started by `collect`.

torch's own collection is used, with detours. `Timer.collect_callgrind` times the statement once before it counts,
which for C++ compiles a second template: its inner part is called instead. And it runs valgrind with instrumentation
from start to end, so that importing torch is simulated too, at fifty times the time: a `valgrind` in front of the real
one starts without, and the setup has it switched on, and off again when the program ends. What Python has imported by
then is frozen: torch collects garbage after each repeat, and would go through all of it. torch also asks each process
under Callgrind how it is: with a `--vgdb-prefix` of its own, this one alone is asked, and waits for no other. A C++
snippet is compiled without debug information for itself, which takes a quarter off the compiler's time; torch has none
either. Nothing of this changes what is counted.
"""

import dataclasses
import json
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from torch.utils.benchmark import Timer
from torch.utils.benchmark.utils import cpp_jit
from torch.utils.benchmark.utils.valgrind_wrapper import timer_interface
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats

from harness.callgrind import cache, tools

_SHIM = """#!/bin/sh
for argument; do
    shift
    case "$argument" in --instr-atstart=yes) argument=--instr-atstart=no;; esac
    set -- "$@" "$argument"
done
exec {valgrind} --vgdb-prefix={prefix} "$@"
"""
_CONTROL_SHIM = """#!/bin/sh
exec {callgrind_control} --vgdb-prefix={prefix} "$@"
"""
_ON_PYTHON = """import atexit as _atexit, gc as _gc, os as _os, subprocess as _subprocess
def _instrumentation(state):
    _subprocess.run(["callgrind_control", "-i", state, str(_os.getpid())], check=True, stdout=-3)
_gc.collect()
_gc.freeze()
_atexit.register(_instrumentation, "off")
_instrumentation("on")
"""
_HEADERS = "#include <torch/csrc/Exceptions.h>\n#include <torch/csrc/utils/pybind.h>\n"
"""What an extension needs, in place of `torch/extension.h`, which takes half a minute to compile."""

_ON_CPP = """struct Instrumentation {
  Instrumentation() { CALLGRIND_START_INSTRUMENTATION; }
  ~Instrumentation() { CALLGRIND_STOP_INSTRUMENTATION; }
} instrumentation;
"""


def main(described: str, answer: str) -> None:
    """Collect the counts of snippets, described as JSON, and write those of each as a line of JSON.

    torch compiles no code a second time in one process, so snippets of one program are compiled with the first.
    """
    lines = []
    with tempfile.TemporaryDirectory(prefix="fairclock-shim-") as folder:
        os.environ.update(tools.surroundings(_shims(Path(folder))))
        for snippet in json.loads(described):
            setup = _extension(snippet, Path(folder)) + snippet["setup"] if snippet["extension"] else snippet["setup"]
            with mock.patch.dict(os.environ, snippet["environment"]):
                lines.append(cache.dumps(_collect(snippet, setup)))
    Path(answer).write_text("\n".join(lines), encoding="utf-8")


def _shims(folder: Path) -> Path:
    for name, text in (("valgrind", _SHIM), ("callgrind_control", _CONTROL_SHIM)):
        shim = folder / name
        shim.write_text(text.format(**{name: shutil.which(name)}, prefix=folder / "vgdb"), encoding="utf-8")
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return folder


def _collect(snippet: dict[str, Any], setup: str) -> tuple[CallgrindStats, ...]:
    is_python = snippet["language"] == "python"
    cpp_jit.CXX_FLAGS = [flag for flag in cpp_jit.CXX_FLAGS or () if flag != "-g"]
    timer = Timer(
        stmt=snippet["stmt"],
        setup=setup,
        global_setup=snippet["global_setup"],
        language=snippet["language"],
        num_threads=snippet["num_threads"],
    )
    spec = timer._task_spec  # noqa: SLF001 - what `Timer.collect_callgrind` hands on
    switched = dataclasses.replace(spec, setup=(_ON_PYTHON if is_python else _ON_CPP) + spec.setup)
    found: list[CallgrindStats] = []
    for _ in range(snippet["runs"]):
        found += timer_interface.wrapper_singleton().collect_callgrind(
            task_spec=switched,
            globals={},
            number=snippet["number"],
            repeats=snippet["repeats"],
            collect_baseline=is_python,
            is_python=is_python,
            retain_out_file=False,
        )
    return tuple(dataclasses.replace(each, task_spec=spec) for each in found)


def _extension(snippet: dict[str, Any], folder: Path) -> str:
    """Compile an extension, and return the setup that makes it known under the name `extension`."""
    from torch.utils.cpp_extension import load_inline  # noqa: PLC0415 - slow to import, and not always needed

    load_inline(  # type: ignore[no-untyped-call]
        name="extension",
        cpp_sources=_HEADERS + snippet["extension"],
        functions=list(snippet["functions"]),
        extra_cflags=["-O2", "-g1"],
        build_directory=str(folder),
        no_implicit_headers=True,
    )
    return f"import sys\nsys.path.insert(0, {str(folder)!r})\nimport extension\n"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
