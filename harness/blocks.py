"""Blocks: a statement repeated for less than a scheduler's slice, timed on two clocks.

A block that fits between two interruptions is usually not interrupted at all, and two such blocks back to
back meet the same machine. `timing_loop` makes the function that times them, `calibrate` finds how many
calls fill one, `steady` holds still what would disturb them.
"""

import ast
import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from types import CodeType

from harness import clocks
from harness.clocks import Clock
from harness.errors import UsageError
from harness.rounds import Reading, taken

BLOCK_S = 0.2e-3
"""Length of a block. Far below a scheduler's slice (3 ms and more on Linux), and below the bursts of a
millisecond in which a neighbour on the same host slows a core without taking it: on a shared 2-core VM the
middle half of A/A ratios spread over 4 to 8 % with blocks of 0.8 ms, 0.5 to 2.5 % with these. In much shorter
ones the first block of a round shows that other code ran before it (0.4 % at 0.1 ms)."""

_TRIES = 8
"""Blocks of a size tried in calibrating. One call of 20 ms and more is tried only once."""

_BEYOND_INTERRUPTION_S = 100 * BLOCK_S
"""A block this long is long by itself: a neighbour takes the core for a few milliseconds at a time."""

Statement = str | Callable[[], object]
"""What is timed: a statement, as for `timeit`, or a function to be called without arguments."""

TimingLoop = Callable[[int], Reading]
"""Runs the statement that many times as one block and returns what that cost."""

COUNTED: Clock = clocks.wall if sys.platform == "win32" else clocks.thread_cpu
"""What counts unless told otherwise. Windows moves a thread's CPU clock only 64 times a second."""

_LOOP = """\
def _timing_loop(_function, _clock, _wall, _repeat, _reading):
    _SETUP
    _calls = yield
    while True:
        _each = _repeat(None, _calls)
        _wall_s = _wall()
        _cpu_s = _clock()
        for _ in _each:
            _STATEMENT
        _cpu_s = _clock() - _cpu_s
        _wall_s = _wall() - _wall_s
        _calls = yield _reading(_cpu_s, _wall_s, _calls)
"""
"""A generator, so that the setup runs once for all blocks and its names are fast locals, as in `timeit`."""


def timing_loop(
    statement: Statement,
    *,
    setup: str = "pass",
    globals: Mapping[str, object] | None = None,  # noqa: A002 - timeit's word for it
    clock: Clock = COUNTED,
    wall: Clock = clocks.wall,
) -> TimingLoop:
    """Compile `statement` into a fresh timing loop and run `setup` for it.

    A reading's CPU time is by `clock`. The statement sees the setup's names and a copy of `globals`.

    Raises `UsageError` when either is not Python, and whatever the setup itself raises.
    """
    function, code = (None, statement) if isinstance(statement, str) else (statement, "_function()")
    bodies = {"_SETUP": _parsed("setup", setup), "_STATEMENT": _parsed("statement", code)}
    tree = ast.parse(_LOOP)
    _Splice(bodies).visit(tree)
    ast.fix_missing_locations(tree)
    names = dict(globals or {})
    exec(_compiled("statement or setup", tree), names)  # noqa: S102 - the caller's own code, as timeit does
    make = names["_timing_loop"]
    assert callable(make)
    blocks = make(function, clock, wall, repeat, taken)
    next(blocks)
    send: TimingLoop = blocks.send
    return send


def calibrate(loop: TimingLoop) -> Reading:
    """Return a block of about `BLOCK_S`, after warming up; its `calls` are how many fill one, and at least 1.

    Of several tries the shortest counts, since an interrupted block looks long; and a number of calls is
    believed only when blocks of it are not short after all: the reading of the clocks would be a large part
    of those.
    """
    loop(1)
    calls = 1
    while True:
        block = _shortest(loop, calls)
        filling = max(1, round(calls * BLOCK_S / block.wall_s))
        if filling <= 2 * calls:
            filled = block if filling == calls else _shortest(loop, filling)
            if filled.wall_s >= BLOCK_S / 2:
                return filled
        calls *= 2


@contextmanager
def steady() -> Iterator[None]:
    """Hold still what disturbs a block, and put it back: garbage is collected before and not during.

    If torch is loaded it works on one thread meanwhile, so that the CPU clock of this thread sees its work.
    """
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)
        if collecting:
            gc.enable()


def _shortest(loop: TimingLoop, calls: int) -> Reading:
    block = loop(calls)
    if block.wall_s > _BEYOND_INTERRUPTION_S:
        return block
    return min(block, *(loop(calls) for _ in range(_TRIES - 1)), key=lambda reading: reading.wall_s)


class _Splice(ast.NodeTransformer):
    """Puts whole bodies in the place of names that stand alone on a line."""

    def __init__(self, bodies: Mapping[str, list[ast.stmt]]) -> None:
        self.bodies = bodies

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """Replace a line that is one of the names."""
        return self.bodies.get(node.value.id, node) if isinstance(node.value, ast.Name) else node


def _parsed(what: str, source: str) -> list[ast.stmt]:
    """Return the statements of code that stands alone: a bare `break` would leave the timing loop."""
    _compiled(what, source)
    return ast.parse(source).body or [ast.Pass()]


def _compiled(what: str, source: str | ast.Module) -> CodeType:
    try:
        return compile(source, f"<{what}>", "exec")
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"The {what} cannot be timed: {error}. Correct it and measure again.") from error
