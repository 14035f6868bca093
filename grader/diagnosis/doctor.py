"""Check all parts of this machine that grading and the lessons need, with advice for each part that does not work."""

from collections.abc import Iterator

from grader.diagnosis import machine
from grader.diagnosis.health_check import HealthCheck
from grader.isolation import sandbox


def examine() -> Iterator[HealthCheck]:
    """Yield the result for each part of this machine that grading and the lessons need.

    This takes several seconds, because torch is imported, valgrind is run, and the noise is measured.
    """
    from grader.diagnosis import tools  # noqa: PLC0415 - imports torch, and every command imports this module

    yield machine.gil()
    yield tools.torch()
    yield from _sandbox()
    yield machine.clock()
    yield machine.layout()
    yield machine.cores()
    yield from machine.folders()
    yield tools.valgrind()
    yield from tools.compilers()
    yield tools.headers()
    yield tools.cuda()
    yield tools.free_threaded()
    yield machine.noise_level()


def _sandbox() -> Iterator[HealthCheck]:
    if lacks := sandbox.problem():
        yield HealthCheck("sandbox", lacks.found, lacks.fix, needed=True)
        return
    yield HealthCheck("sandbox", sandbox.summary(), needed=True)
    yield from (HealthCheck(f"· {layer.name}", layer.found, layer.fix) for layer in sandbox.layers())
