"""The files that run inside a sandbox. They import each other, `harness.processes.channel`, and torch."""
