"""Exercises of lesson 19: count the causes of recompilations, and put statements into few graphs."""
