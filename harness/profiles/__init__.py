"""Profiles: what a profiler has found as plain rows, a script under `python -m cProfile`, and SnakeViz with its pages.

from harness.profiles import rows, served

rows(profile)                                 # of a cProfile.Profile, pstats.Stats or a file: calls, own and cumulative
run_script(script, "cProfile", "-s", "tottime")       # `python -m cProfile -s tottime script.py`
with served(file) as server:                  # SnakeViz on a free port of this machine, ended whatever happens
    server.page()
"""

from harness.profiles.script import Ran, run_script
from harness.profiles.snakeviz import Server, served
from harness.profiles.stats import Function, rows

__all__ = ["Function", "Ran", "Server", "rows", "run_script", "served"]
