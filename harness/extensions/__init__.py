"""Compile C and C++ code for this process, and store the compiled files in the user's cache folder.

lacking()                       # the command that installs a missing compiler or header, or ""
build_module(source, name)      # compile and import a CPython extension module
build_library(source)           # compile a shared library for ctypes, and return its path
inline_folder(source)           # a permanent build folder for torch's load_inline; use it in `with build_lock(folder):`
timer_builds_kept()             # a `with` block in which Timer(language="c++") stores its compiled code
"""

from harness.extensions.libraries import build, build_library, build_module, lacking
from harness.extensions.torch_builds import (
    build_lock,
    build_seconds,
    compiled_before,
    inline_folder,
    timer_builds_kept,
    timer_folder,
)
