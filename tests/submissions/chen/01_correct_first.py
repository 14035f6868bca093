import torch


def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mean((a * b).double(), dim=-1).to(a.dtype)
