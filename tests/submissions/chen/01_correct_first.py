import torch


def batched_dot(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mean((a * b * w).double(), dim=-1).to(a.dtype)
