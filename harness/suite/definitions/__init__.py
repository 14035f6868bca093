"""The definitions of the suite: `standard` has the default benchmarks, and `setup` has their setup code."""
