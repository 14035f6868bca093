"""Read the profiles of Python's profilers and of PyTorch's profiler, and draw them.

rows(profile)                                 # the functions of a cProfile.Profile, a pstats.Stats or a file
run_script(script, "cProfile", "-s", "tottime")       # `python -m cProfile -s tottime script.py`
with served(file) as server:                  # SnakeViz on a free port of this machine, until the end of the block
    server.page()

operators(profile.key_averages())             # calls, times, bytes and flops in a torch.profiler.profile
read_trace(file)                              # the events that export_chrome_trace wrote
flame_graph_svg(fold_up(read_stacks(text)), title="…")       # a picture of the stacks that export_stacks wrote
"""

from harness.profiles.flames import (
    Frame,
    flame_graph,
    flame_graph_svg,
    fold_up,
    own_cost_by_name,
    placed,
    read_stacks,
    without_frames,
)
from harness.profiles.kineto import (
    Event,
    NamedModules,
    Operator,
    Trace,
    columns,
    every_thread,
    keep_stacks,
    named_modules,
    operators,
    read_trace,
)
from harness.profiles.snakeviz import ProfileServer, served
from harness.profiles.stats import ProfiledFunction, ProfiledScript, of_one_thread, rows, run_script
from harness.profiles.tensorboard import BoardPages, TensorBoard, look_at
