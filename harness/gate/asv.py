"""Collect the timing benchmarks of asv (airspeed velocity) as tests: `time_*` functions, and methods of classes.

See https://asv.readthedocs.io/en/stable/writing_benchmarks.html for `setup`, `teardown`, `setup_cache`, `params` and
`number`, which have the same meaning here. `setup` runs once for all calls, or with `number = 1` before each call.
"""

import contextlib
import inspect
import itertools
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest

from harness.gate.timed_calls import MARKER, SERVE, time_prepared, time_repeated

_NAME: Final = re.compile(r"time_.+|Time[A-Z_].+")  # as in asv_runner
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


class AsvFiles:
    """A plug-in of pytest: collects the Python files in a folder as files with asv's benchmarks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> "AsvFile | None":
        """Return the collector of a file in the folder."""
        if file_path.suffix != ".py" or not file_path.resolve().is_relative_to(self._folder):
            return None
        return AsvFile.from_parent(parent, path=file_path)


class AsvFile(pytest.Module):
    """A file with benchmarks. They run in a temporary folder, in which `setup_cache` may write files."""

    def collect(self) -> Iterator["AsvBenchmark"]:
        """Yield a test for each benchmark and each combination of its parameters."""
        for owner, names in self._benchmarks():
            for name in names:
                sources = [getattr(owner, name), *([owner] if inspect.isclass(owner) else []), self.obj]
                sets = _first(sources, "params") or ()
                if sets and not isinstance(sets[0], list | tuple):
                    sets = (sets,)
                title = f"{owner.__name__}.{name}" if inspect.isclass(owner) else name
                for parameters in itertools.product(*sets):
                    shown = f"[{'-'.join(_ADDRESS.sub('', repr(value)) for value in parameters)}]" * bool(sets)
                    yield AsvBenchmark.from_parent(
                        self, name=title + shown, owner=owner, attribute=name, parameters=parameters
                    )

    def _benchmarks(self) -> Iterator[tuple[Any, list[str]]]:
        public = {name: value for name, value in vars(self.obj).items() if not name.startswith("_")}
        yield self.obj, [name for name, value in public.items() if _NAME.fullmatch(name) and inspect.isfunction(value)]
        for value in filter(inspect.isclass, public.values()):
            yield value, [name for name, _ in inspect.getmembers(value, inspect.isfunction) if _NAME.fullmatch(name)]

    @cached_property
    def folder(self) -> tempfile.TemporaryDirectory[str]:
        """The folder in which the benchmarks of this file run."""
        return tempfile.TemporaryDirectory()

    @cached_property
    def caches(self) -> dict[object, bytes]:
        """The pickled results of functions `setup_cache`. Each benchmark gets a new copy."""
        return {}


class AsvBenchmark(pytest.Item):
    """A `time_*` function or method with one combination of parameters."""

    def __init__(self, *, owner: Any, attribute: str, parameters: Sequence[object], **names: Any) -> None:
        super().__init__(**names)
        self._owner, self._attribute, self._parameters = owner, attribute, tuple(parameters)
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Run the setup, pass the timed call on, and run the teardown."""
        file = self.getparent(AsvFile)
        assert file is not None
        with contextlib.chdir(file.folder.name):
            of_class = inspect.isclass(self._owner)
            owner = self._owner() if of_class else self._owner
            timed = getattr(owner, self._attribute)
            sources = [timed, owner, file.obj] if of_class else [timed, owner]
            arguments = (*_cached(file, sources), *self._parameters)
            setups = [source.setup for source in reversed(sources) if hasattr(source, "setup")]
            teardowns = [source.teardown for source in sources if hasattr(source, "teardown")]

            def prepare() -> tuple[tuple[object, ...], Mapping[str, object]]:
                for setup in setups:
                    setup(*arguments)
                return arguments, {}

            def clean(*_: object) -> None:
                for teardown in teardowns:
                    teardown(*arguments)

            serve = self.config.stash[SERVE]
            try:
                if _first(sources, "number") == 1:
                    time_prepared(prepare, timed, clean, serve)
                    return
                prepare()
                try:
                    time_repeated(timed, arguments, {}, serve)
                finally:
                    clean()
            except NotImplementedError as error:  # asv's way to leave out a combination of parameters
                pytest.skip(f"NotImplementedError: {error}")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the benchmark is, for reports."""
        return self.path, None, self.name


def _first(sources: Sequence[Any], name: str) -> Any:
    return next((getattr(source, name) for source in sources if hasattr(source, name)), None)


def _cached(file: AsvFile, sources: Sequence[Any]) -> tuple[object, ...]:
    make: Callable[[], object] | None = _first(sources, "setup_cache")
    if make is None:
        return ()
    key = getattr(make, "__func__", make)
    if key not in file.caches:
        file.caches[key] = pickle.dumps(make())
    value = pickle.loads(file.caches[key])  # noqa: S301 - this process has pickled it
    return () if value is None else (value,)
