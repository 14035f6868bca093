"""Exercise of lesson 04: choose a block size, and take samples in blocks."""
