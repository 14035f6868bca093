"""Measuring: clocks, devices, timers, pairs, lanes, and the text that shows what they found.

Import what you need from its own module (`from harness.clocks import wall`). This package itself imports
nothing, because a command that only wants to print its help must not wait for torch.
"""
