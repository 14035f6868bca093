"""Profiles, of Python's profilers and of PyTorch's, as plain rows and as pictures.

from harness.profiles import rows, served

rows(profile)                                 # of a cProfile.Profile, pstats.Stats or a file: calls, own and cumulative
run_script(script, "cProfile", "-s", "tottime")       # `python -m cProfile -s tottime script.py`
with served(file) as server:                  # SnakeViz on a free port of this machine, ended whatever happens
    server.page()

operators(profile.key_averages())             # of a torch.profiler.profile: calls, own and total time, bytes, flops
read_trace(file)                              # what export_chrome_trace wrote, as events
flame_graph_svg(fold_up(read_stacks(text)), title="…")       # what export_stacks wrote, as a picture
"""

from harness.profiles.flame_svg import flame_graph_svg
from harness.profiles.flames import Frame, flame_graph, fold_up, placed, read_stacks, widest, without
from harness.profiles.kineto import NamedModules, keep_stacks, named_modules
from harness.profiles.operators import Operator, columns, operators
from harness.profiles.script import Ran, run_script
from harness.profiles.snakeviz import Server, served
from harness.profiles.stats import Function, of_one_thread, rows
from harness.profiles.trace import Event, Trace, read_trace

__all__ = [
    "Event",
    "Frame",
    "Function",
    "NamedModules",
    "Operator",
    "Ran",
    "Server",
    "Trace",
    "columns",
    "flame_graph",
    "flame_graph_svg",
    "fold_up",
    "keep_stacks",
    "named_modules",
    "of_one_thread",
    "operators",
    "placed",
    "read_stacks",
    "read_trace",
    "rows",
    "run_script",
    "served",
    "widest",
    "without",
]
