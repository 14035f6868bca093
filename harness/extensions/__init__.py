"""C and C++ compiled and brought into this process, and kept in the user's cache folder for the next one.

from harness.extensions import build_library, build_module, inline_folder, lacking, timer_kept

lacking()                       # "" or the compiler or header that this machine lacks, with what brings it
build_module(source, name)      # a CPython extension module, compiled and imported
build_library(source)           # the path of a shared library, for ctypes
inline_folder(source)           # a build folder for torch's load_inline that stays; with building(folder): …
timer_kept()                    # within it, Timer(language="c++") keeps what it compiles
"""

from harness.extensions.libraries import build, build_library, build_module, lacking
from harness.extensions.torch_builds import building, compiled_before, inline_folder, timer_folder, timer_kept, took_s

__all__ = [
    "build",
    "build_library",
    "build_module",
    "building",
    "compiled_before",
    "inline_folder",
    "lacking",
    "timer_folder",
    "timer_kept",
    "took_s",
]
