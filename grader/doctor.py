"""`doctor`: what this machine has and lacks for grading and for the lessons, with the fix for each fault."""

from collections.abc import Iterator

from grader.diagnosis import folders, measuring, packages
from grader.diagnosis.finding import Finding
from grader.isolation import sandbox


def examine() -> Iterator[Finding]:
    """Look at each part in turn. It takes some seconds: torch is imported, valgrind runs, noise is measured."""
    from grader.diagnosis import tools  # noqa: PLC0415 - brings torch, and every command imports this module

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
    yield measuring.quiet()


def _sandbox() -> Iterator[Finding]:
    """Look at the sandbox, and where there is one at each of its layers."""
    if lacks := sandbox.obstacle():
        yield Finding("sandbox", present=False, found=lacks.found, fix=lacks.fix, needed=True)
        return
    yield Finding("sandbox", present=True, found=sandbox.summary(), needed=True)
    for layer in sandbox.layers():
        yield Finding(f"· {layer.name}", layer.active, layer.found, layer.fix)
