"""The fixture with which a test runs on both kinds of process trees."""

import pytest
import trees


@pytest.fixture(params=[False, True], ids=["started", "forked"])
def each_start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: with process trees that are started alone, and with forks of a template process."""
    monkeypatch.setattr(trees, "FORKED", request.param)
