"""A class with state and a dataclass beside it; the called function is one of its instances.

01_correct_first earns 10, passed: That is the top tier.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch


@dataclass
class Dots:
    """Count the calls, as a student who debugs would."""

    calls: int = 0
    shapes: list[torch.Size] = field(default_factory=list)

    def __call__(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls < 100:
            self.shapes.append(a.shape)
        return self.of(a, b)

    @staticmethod
    def of(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.einsum("bn,bn->b", a.numpy(), b.numpy()))


batched_dot = Dots()
