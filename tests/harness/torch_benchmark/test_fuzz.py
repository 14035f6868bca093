import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from harness.torch_benchmark import fuzz

FUZZERS: dict[str, Callable[[int], fuzz.Fuzzer]] = {
    "unary": fuzz.UnaryOpFuzzer,
    "binary": fuzz.BinaryOpFuzzer,
    "sparse unary": fuzz.UnaryOpSparseFuzzer,
    "sparse binary": fuzz.BinaryOpSparseFuzzer,
    "spectral": lambda seed: fuzz.SpectralOpFuzzer(seed=seed),
}
COIN = "from torch.utils.benchmark import FuzzedParameter; FuzzedParameter('coin', distribution={1: 0.5, 2: 0.5})"


def drawn(fuzzer: fuzz.Fuzzer, count: int = 6) -> list[fuzz.Sample]:
    bounded = fuzz.limited(fuzzer, max_elements=1 << 18, max_allocation_bytes=1 << 26)
    return list(fuzz.take(bounded, count))


def test_repaired_says_whether_this_torch_refuses_correct_distributions() -> None:
    """Compare `REPAIRED` with the behaviour of torch without this module."""
    bare = subprocess.run([sys.executable, "-c", COIN], capture_output=True, text=True, check=False)
    assert ("Distribution is not normalized" in bare.stderr) == fuzz.REPAIRED
    if torch.__version__.startswith("2.13."):
        assert fuzz.REPAIRED


def test_probabilities_that_sum_to_one_are_accepted_and_others_are_not() -> None:
    fuzz.FuzzedParameter("coin", distribution={1: 0.25, 2: 0.75})
    with pytest.raises(AssertionError, match="not normalized"):
        fuzz.FuzzedParameter("coin", distribution={1: 0.5, 2: 0.6})
    with pytest.raises(AssertionError, match="negative"):
        fuzz.FuzzedParameter("coin", distribution={1: -0.5, 2: 1.5})
    with pytest.raises(AssertionError, match="must be None"):
        fuzz.FuzzedParameter("coin", minval=1, distribution={1: 1.0})
    with pytest.raises(AssertionError, match="Unknown distribution"):
        fuzz.FuzzedParameter("coin", 1, 2, distribution="normal")


@pytest.mark.parametrize("name", FUZZERS)
def test_every_operator_fuzzer_draws_within_bounds_and_the_same_seed_draws_the_same(name: str) -> None:
    one, same, other = (drawn(FUZZERS[name](seed)) for seed in (3, 3, 4))
    assert [sample.label for sample in one] == [sample.label for sample in same]
    assert [sample.label for sample in one] != [sample.label for sample in other]
    for sample, again in zip(one, same, strict=True):
        for key, tensor in sample.tensors.items():
            twin = again.tensors[key]
            assert tensor.numel() <= 1 << 18
            assert torch.equal(tensor.to_dense(), twin.to_dense()) if tensor.is_sparse else torch.equal(tensor, twin)


def test_a_label_has_shape_and_layout() -> None:
    for tensor, text in [
        (torch.zeros(()), "scalar"),
        (torch.zeros(128), "128"),
        (torch.zeros(40, 8), "40×8"),
        (torch.zeros(8, 40).t(), "40×8, transposed"),
        (torch.zeros(40, 16)[:, ::2], "40×8, steps of 2"),
        (torch.zeros(80, 8)[::2], "40×8, steps of 2"),
        (torch.zeros(16, 40)[::4].t(), "40×4, transposed, steps of 4"),
        (torch.zeros(2, 3, 4).permute(2, 0, 1), "4×2×3, permuted (1, 2, 0)"),
        (torch.zeros(8).expand(40, 8), "40×8, expanded"),
        (torch.zeros(40, 1, 8), "40×1×8"),
        (torch.zeros(3, 4).to_sparse(), "3×4 sparse, 0 values, coalesced"),
    ]:
        assert fuzz.label(tensor) == text
    x, y = torch.zeros(2, 3), torch.zeros(3, 2).t()
    assert fuzz.Sample({"x": x, "y": x}, {}, {}).label == "x, y 2×3"
    assert fuzz.Sample({"x": x, "y": y}, {}, {}).label == "x 2×3; y 2×3, transposed"
