"""Fixtures for process trees: both ways to start one, and a pool that exploits and honest files share."""

from collections.abc import Iterator

import pytest
import trees

from grader.isolation import seccomp
from grader.isolation.pool import Pool
from grader.paths import KIT


@pytest.fixture(params=[False, True], ids=["started", "forked"])
def each_start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: with process trees that are started alone, and with forks of a template process."""
    monkeypatch.setattr(trees, "FORKED", request.param)


@pytest.fixture(scope="session")
def hiding_pool() -> Iterator[Pool]:
    """Return a pool whose trees do not see this kit."""
    with Pool(hidden=(KIT,)) as one:
        yield one


@pytest.fixture
def warm_pool(hiding_pool: Pool) -> Pool:
    """Return a pool whose trees of trusted code have started already. The tree of a submission is always new."""
    return trees.warm(hiding_pool)


@pytest.fixture
def processes_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the filter against new processes, as on a machine without seccomp. Only checks from outside remain."""
    monkeypatch.setattr(seccomp, "worker_filter", lambda **_: None)
