"""Exercises of lesson 19: count the causes of recompilations, and put statements into few graphs."""

from .fewest_graphs import FEWEST_GRAPHS
from .recompilations import RECOMPILATIONS

TASKS = (RECOMPILATIONS, FEWEST_GRAPHS)
