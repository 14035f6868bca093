"""An extension in C++ beside the function, built while the file is loaded.

01_correct_first earns 0, raised: torch.compile and load_inline start a C++ compiler, so they do not work in a submission. numba
"""

from torch.utils.cpp_extension import load_inline

extension = load_inline(
    "dots",
    "torch::Tensor dots(torch::Tensor a, torch::Tensor b, torch::Tensor w) { return (a * b * w).sum(1); }",
    functions="dots",
)


def batched_dot(a, b, w):
    return extension.dots(a, b, w)
