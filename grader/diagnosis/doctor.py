"""Check all parts of this machine that grading and the lessons need, with advice for each part that does not work."""

from collections.abc import Iterator

from grader.diagnosis import folders, measuring, packages
from grader.diagnosis.finding import Finding
from grader.isolation import sandbox


def examine() -> Iterator[Finding]:
    """Yield one finding for each part of this machine that grading and the lessons need.

    This takes several seconds, because torch is imported, valgrind is run, and the noise is measured.
    """
    from grader.diagnosis import tools  # noqa: PLC0415 - imports torch, and every command imports this module

    yield packages.gil()
    yield packages.torch()
    yield from _sandbox()
    yield measuring.clock()
    yield measuring.layout()
    yield measuring.cores()
    yield from folders.folders()
    yield tools.valgrind()
    yield tools.c_compiler()
    yield tools.cpp_compiler()
    yield tools.headers()
    yield tools.cuda()
    yield tools.free_threaded()
    yield measuring.noise_level()


def _sandbox() -> Iterator[Finding]:
    if lacks := sandbox.problem():
        yield Finding("sandbox", present=False, found=lacks.found, fix=lacks.fix, needed=True)
        return
    yield Finding("sandbox", present=True, found=sandbox.summary(), needed=True)
    for layer in sandbox.layers():
        yield Finding(f"· {layer.name}", layer.active, layer.found, layer.fix)
