"""The packages that measure code: clocks, devices, paired rounds, profilers, and pictures of the results.

Import each name from its own module, for example `from harness.machine.clocks import wall`. The package itself imports
no module. So a command that only prints its help does not wait for the import of torch.
"""
