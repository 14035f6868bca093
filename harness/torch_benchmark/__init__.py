"""Helpers for `torch.utils.benchmark`: grids of measured times, torch's fuzzers, and files of results."""
