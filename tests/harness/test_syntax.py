"""Source texts are parsed in one thread at a time, because `ast.parse` of Python 3.11 fails in threads."""

import ast
import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import syntax

SOURCE = Path(ast.__file__).read_text(encoding="utf-8")


@pytest.fixture
def switches_inside_the_parser() -> Iterator[None]:
    """Run Python code at each of many garbage collections, so that threads also switch while a tree is built."""
    before = gc.get_threshold()

    def collected(*_: object) -> None:
        sum(range(50))

    gc.callbacks.append(collected)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(collected)


@pytest.mark.usefixtures("switches_inside_the_parser")
def test_two_threads_may_parse_at_the_same_time() -> None:
    with ThreadPoolExecutor(2) as threads:
        trees = list(threads.map(syntax.parse, [SOURCE] * 30))
    assert {len(tree.body) for tree in trees} == {len(ast.parse(SOURCE).body)}
