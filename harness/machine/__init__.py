"""The machine that a measurement runs on: clocks, cores, caches, devices, programs and environment."""
