import torch


def batched_dot(a, b, w):
    out = torch.zeros(a.shape[0], dtype=a.dtype)
    for i in range(a.shape[0]):
        out[i] = torch.dot(a[i] * w, b[i])
    return out
