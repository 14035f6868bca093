"""Computes strips of the picture, and appends each to the answer with torch.cat, which copies the answer each time."""

import torch

STRIP = 1 << 13


def tone_curve(x):
    answer = x.new_empty(0)
    for strip in x.reshape(-1).split(STRIP):
        t = strip * 1.5
        t = t - 0.25
        t = t.clamp(0.0, 1.0)
        u = t * -2.0
        u = u + 3.0
        t = t * t
        t = t * u
        t = t * 255.0
        answer = torch.cat([answer, t + 16.0])
    return answer.view(x.shape)
