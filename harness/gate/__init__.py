"""Compare the benchmarks of a project with an earlier revision of the same project: `pytest --duel BASE`."""
