"""The packages that measure code: clocks, devices, paired rounds, profilers, and pictures of the results.

Lessons, the grader and its sandboxed processes import this package before torch. Then they do not show the messages of
torch's CUDA build on a machine without a GPU. Messages about an existing GPU still appear.
"""

import logging
import warnings

_NO_RUNTIME = ("No CUDA runtime is found", "No ROCm runtime is found")

logging.getLogger("torch.utils.cpp_extension").addFilter(
    lambda record: not str(record.msg).startswith(_NO_RUNTIME)  # torch.utils.benchmark imports this module of torch
)
for _message in ("CUDA initialization: (?!The NVIDIA driver)", "Can't initialize (NVML|amdsmi)"):
    warnings.filterwarnings("ignore", _message, UserWarning)
