import os
import sys
from pathlib import Path

from harness.callgrind import tools


def test_a_counted_process_has_fixed_hashes_this_interpreter_and_no_gpu() -> None:
    found = tools.environment(base={"CUDA_VISIBLE_DEVICES": "0,1", "PYTHONHASHSEED": "7", "PATH": "/bin", "HOME": "/h"})
    folder = str(Path(sys.executable).parent)
    assert found == {
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONHASHSEED": tools.HASH_SEED,
        "PATH": os.pathsep.join([folder, "/bin"]),
        "HOME": "/h",
    }


def test_options_of_valgrind_and_another_python_home_are_left_out() -> None:
    found = tools.environment(Path("/shims"), {"VALGRIND_OPTS": "-v", "PYTHONHOME": "/other", "PATH": "/bin"})
    assert not {"VALGRIND_OPTS", "PYTHONHOME"} & found.keys()
    assert found["PATH"].startswith(f"/shims{os.pathsep}")
