"""Measure memory: of a process, after each line and over time, of each allocation, and of torch's tensors."""
