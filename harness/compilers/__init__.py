"""Compile Python and torch code for measurements, and show what the compilers do."""
