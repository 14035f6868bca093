"""Run the same program with and without Python's global lock (the GIL), on threads and on processes.

`builds` finds other builds of Python on this machine. `servers` runs functions of a program in a separate interpreter.
`scaling` compares one thread, several threads and several processes. `accesses` records which thread reads and writes
a variable, and which locks it holds.
"""

from harness.threads.accesses import Recorder, ThreadEvent
from harness.threads.builds import (
    PythonBuild,
    free_threaded,
    lacking_free_threaded,
    lacking_interpreters,
    usual,
    with_interpreters,
)
from harness.threads.scaling import ScalingTurn, can_limit, limited_to, take_turns, undisturbed
from harness.threads.servers import serve
