"""The program of a process that counts the instructions of code snippets, `python -m harness.callgrind.child`.

It is torch's `Timer.collect_callgrind` without timing the statement first, and with changes that save time:

- A script named `valgrind` starts the real valgrind without instrumentation, under which importing torch takes fifty
  times as long. The setup switches instrumentation on.
- `gc.freeze` hides all imported objects from the garbage collector.
- torch sends a query to all processes that run under Callgrind. With a separate `--vgdb-prefix`, only this one gets it.
- C++ snippets are compiled without debug information, like torch's own libraries.
"""

import dataclasses
import marshal
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.utils.benchmark import Timer
from torch.utils.benchmark.utils import cpp_jit
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper import timer_interface
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats

from harness import statements
from harness.callgrind import tools
from harness.processes.channel import stdio_channel
from harness.torch_benchmark.result_store import callgrind_to_dict

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
_ON_PYTHON = """import atexit
def instrumentation(state):
    subprocess.run(["callgrind_control", "-i", state, str(os.getpid())], check=True, stdout=-3)
gc.collect()
gc.freeze()
atexit.register(instrumentation, "off")
instrumentation("on")
SETUP"""
# The script that valgrind runs instead of torch's, which would indent statements. `code` is that of torch's script.
_SCRIPT = """import builtins, marshal, torch
{extension}
names = dict(globals())
names |= {{f".{{name}}": each for name, each in {{**vars(builtins), **names}}.items()}}
names[".import_all"] = lambda line: exec(line, names)
exec(marshal.loads({code!r}), names)
"""
# Compiling with `torch/extension.h` instead would take half a minute.
_HEADERS = "#include <torch/csrc/Exceptions.h>\n#include <torch/csrc/utils/pybind.h>\n"

_ON_CPP = """struct Instrumentation {
  Instrumentation() { CALLGRIND_START_INSTRUMENTATION; }
  ~Instrumentation() { CALLGRIND_STOP_INSTRUMENTATION; }
} instrumentation;
"""


def main() -> None:
    """Receive code snippets, count their instructions, and send the counts.

    The snippets must all contain the same code, because torch compiles equal code only once per process. They may
    differ in their environment variables.
    """
    channel = stdio_channel()
    kind, request = channel.receive()
    counts: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="fairclock-shim-") as folder:
        os.environ.update(tools.environment(_shims(Path(folder))))
        for snippet in request["snippets"]:
            extension = _extension(snippet, Path(folder)) if snippet["extension"] else ""
            with mock.patch.dict(os.environ, snippet["environment"]):
                failure = _failure(snippet, extension) if snippet["language"] == "python" else ""
                counts.append(failure or [callgrind_to_dict(each) for each in _collect(snippet, extension)])
    channel.send(kind, {"counts": counts})


def _shims(folder: Path) -> Path:
    for name, text in (("valgrind", _SHIM), ("callgrind_control", _CONTROL_SHIM)):
        shim = folder / name
        shim.write_text(text.format(**{name: shutil.which(name)}, prefix=folder / "vgdb"), encoding="utf-8")
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return folder


def _failure(snippet: dict[str, Any], extension: str) -> str:
    """Run the setup and the statement once without valgrind. Return why they fail as one sentence, or ""."""
    names: dict[str, object] = {"torch": torch}
    try:
        exec(extension, names)  # noqa: S102 - the lines that `_extension` returns
        statements.run_once(names, setup=snippet["setup"], statement=snippet["stmt"])
    except BaseException as error:  # noqa: BLE001 - a snippet may raise any exception
        return statements.sentence(statements.of_statement(error))
    return ""


def _collect(snippet: dict[str, Any], extension: str) -> tuple[CallgrindStats, ...]:
    is_python = snippet["language"] == "python"
    cpp_jit.CXX_FLAGS = [flag for flag in cpp_jit.CXX_FLAGS or () if flag != "-g"]
    setup, statement, wrapper = snippet["setup"], snippet["stmt"], timer_interface.wrapper_singleton()
    timer = Timer(language="python") if is_python else Timer(statement, setup, language=snippet["language"])
    spec = timer._task_spec  # noqa: SLF001 - the argument that `Timer.collect_callgrind` passes
    construct = wrapper._construct_script  # noqa: SLF001 - there is no other way to change it

    def script(task: TaskSpec, **options: Any) -> str:
        code = statements.compiled(construct(task, **options), setup=setup, statement=statement)
        return _SCRIPT.format(extension=extension, code=marshal.dumps(code))

    if is_python:
        spec = dataclasses.replace(spec, setup=statements.indented(setup), stmt=statements.indented(statement))
        switched = dataclasses.replace(spec, setup=_ON_PYTHON, stmt="STATEMENT")
    else:
        switched = dataclasses.replace(spec, setup=_ON_CPP + spec.setup)
    found: list[CallgrindStats] = []
    with mock.patch.object(wrapper, "_construct_script", script):
        for _ in range(snippet["runs"]):
            found += wrapper.collect_callgrind(
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
    from torch.utils.cpp_extension import load_inline  # noqa: PLC0415 - slow to import, and rarely needed

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
    main()
