"""Read the profiles of Python's profilers and of PyTorch's profiler, and draw them."""
