"""Compile C++ code with torch's headers, and keep the code that torch's Timer compiles."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from torch.utils import cpp_extension
from torch.utils.benchmark.utils import cpp_jit

from harness.compilers.inductor import lacking
from harness.extensions import build_lock, compiled_before, inline_folder


@contextlib.contextmanager
def timer_builds_kept() -> Iterator[None]:
    """Make `Timer(language="c++")` store its compiled code in the cache, and use it again, during a `with` block."""
    template = Path(cpp_jit.SOURCE_ROOT, "timeit_template.cpp").read_text(encoding="utf-8")

    def compile_kept(*, stmt: str, setup: str, global_setup: str) -> Any:
        folder, source = inline_folder([stmt, setup, global_setup]), template
        for mark, text in (("GLOBAL_SETUP", global_setup), ("SETUP", setup), ("STMT", stmt)):
            source = source.replace(f"// {mark}_TEMPLATE_LOCATION", text)
        file = folder / "timer.cpp"
        with build_lock(folder):
            if not file.is_file() or file.read_text(encoding="utf-8") != source:
                file.write_text(source, encoding="utf-8")
            return cpp_extension.load(
                name=folder.name,
                sources=[str(file)],
                build_directory=str(folder),
                extra_cflags=cpp_jit.CXX_FLAGS,
                extra_include_paths=cpp_jit.EXTRA_INCLUDE_PATHS,
            )

    with mock.patch.object(cpp_jit, "compile_timeit_template", compile_kept):
        yield


def lacking_headers(folder: Path, compiling: int) -> str:
    """Return what is missing to compile torch's headers into `folder`, with a way to get it, or "".

    If `compiling` is 0, nothing is compiled, so the code must have been compiled before.
    """
    if compiling or compiled_before(folder):
        return lacking()
    return "--fast does not compile torch's headers: run the lesson once without --fast"
