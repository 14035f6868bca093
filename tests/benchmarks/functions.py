"""Compare functions of the standard library and of torch with themselves, and count the verdicts.

    python tests/benchmarks/functions.py functions.jsonl --seed 1           # 200 and 100 functions; 5 minutes
    python tests/benchmarks/functions.py stateful.jsonl --stateful 10       # code whose calls do not cost the same

Each function is compared with itself, so FASTER and SLOWER are false verdicts. The functions are not chosen by hand:
they are the first in a random order that run with simple arguments, without an exception, within a second. A function
of the standard library gets the first of 300 lists of arguments from hypothesis with which it runs, an operator of
torch the first such sample of its own tests. The exit code is 1 if a verdict is false, or if an exception has no
sentence for the user. With `--stateful`, only duels of code that keeps state run, each a number of times.
"""

import argparse
import copy
import importlib
import inspect
import json
import os
import random
import signal
import sys
import tempfile
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import hypothesis
from hypothesis import strategies as st

from harness.paired.duel import duel

MODULES: Final = """
array ast base64 binascii bisect builtins bz2 calendar cmath codecs collections colorsys copy csv dataclasses datetime
decimal difflib dis email.utils enum fnmatch fractions functools glob hashlib heapq html inspect ipaddress itertools
json keyword linecache locale lzma math mimetypes ntpath numbers operator os.path pickle pickletools platform
pprint quopri random re reprlib secrets shlex stat statistics string struct sysconfig textwrap time timeit token
tokenize traceback types typing unicodedata urllib.parse uuid warnings weakref xml.sax.saxutils xml.etree.ElementTree
zlib
"""
"""Modules that compute. The functions of other modules change the process, files or other programs."""

EXCLUDED: Final = {
    "open", "input", "breakpoint", "help", "exit", "quit", "__import__", "exec", "eval", "iterparse", "parse",
}  # fmt: skip

STATEFUL: Final = {
    "consumed iterator": ("it = iter(list(range(10_000)))", "sum(it)"),
    "consumed generator": ("it = (n * n for n in range(10_000))", "list(it)"),
    "counter": ("class C: n = 0\nc = C()", "c.n += 1; sum(range(c.n))"),
    "growing list": ("values = []", "values.append(1); sum(values)"),
    "growing text": ("text = ''", "text += 'x' * 100; text.upper()"),
    "sort in place": ("import random\nvalues = [random.random() for _ in range(1000)]", "values.sort()"),
    "emptied list": ("values = list(range(10_000))", "while values: values.pop()"),
    "lru_cache": ("import functools\nf = functools.lru_cache(lambda n: sum(range(n)))", "f(10_000)"),
    "dictionary as a cache": ("cache = {}", "cache[0] = cache.get(0) or sum(range(10_000))"),
}

_NUMBERS, _TEXTS = st.integers(0, 99), st.text("ab c0,-:/%", max_size=30)
SIMPLE: Final = st.one_of(
    _NUMBERS, _TEXTS, st.floats(0, 9), st.binary(max_size=30), st.lists(_NUMBERS, max_size=30), st.lists(_TEXTS),
    st.lists(st.floats(1, 9), min_size=2), st.dictionaries(_TEXTS, _NUMBERS), st.dates(), st.sampled_from((abs, len)),
)  # fmt: skip

Call = Callable[[], object]


def library_calls(rng: random.Random, seed: int) -> Iterator[tuple[str, Call]]:
    """Yield functions of the standard library with simple arguments, in a random order."""
    lists: list[tuple[Any, ...]] = [()]

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=300, database=None, phases=[hypothesis.Phase.generate], deadline=None)
    @hypothesis.given(st.one_of(*(st.tuples(*[SIMPLE] * number) for number in (1, 2, 3))))
    def draw(arguments: tuple[Any, ...]) -> None:
        lists.append(arguments)

    draw()
    found = {
        value: f"{module}.{name}"
        for module, content in [(name, importlib.import_module(name)) for name in MODULES.split()]
        for name in getattr(content, "__all__", dir(content))
        if not name.startswith("_") and name not in EXCLUDED and inspect.isroutine(value := getattr(content, name))
    }
    for function in rng.sample(list(found), len(found)):
        works = (arguments for arguments in lists if not failure(_often(function, *copy.deepcopy(arguments))))
        if (arguments := next(works, None)) is not None:
            yield f"library: {found[function]}", partial(function, *copy.deepcopy(arguments))


def _often(function: Callable[..., object], *arguments: object) -> Call:
    """Return a function that calls `function` 30 times, because some empty a list and then raise an exception."""
    return lambda: [function(*arguments) for _ in range(30)]


def torch_calls(rng: random.Random) -> Iterator[tuple[str, Call]]:
    """Yield torch's operators with samples of their tests, in a random order."""
    package: Any = sys.modules.setdefault("expecttest", types.ModuleType("expecttest"))
    package.TestCase = unittest.TestCase  # torch's samples are in a module that needs this package
    from torch.testing._internal.common_methods_invocations import op_db

    operators: list[Any] = rng.sample(op_db, len(op_db))
    for operator in operators:
        calls: list[Call] = []
        failure(lambda operator=operator, calls=calls: calls.extend(_samples(operator)))  # type: ignore[misc]
        if call := next((call for call in calls if not failure(call)), None):
            yield f"torch: {operator.formatted_name}", call


def _samples(operator: Any) -> Iterator[Call]:
    for sample in islice(operator.sample_inputs("cpu", min(operator.dtypes, key=str), requires_grad=False), 20):
        yield partial(operator.op, sample.input, *sample.args, **sample.kwargs)


def failure(call: Call, limit_s: int = 1) -> str:
    """Call a function, and return "" or its exception, which is a `TimeoutError` after `limit_s` seconds."""
    signal.alarm(limit_s)
    try:
        call()
    except BaseException as error:  # noqa: BLE001 - the functions raise every type
        return repr(error)
    finally:
        signal.alarm(0)
    return ""


def _stop(*_: object) -> None:
    raise TimeoutError


def measured(name: str, code: Call | str, setup: str = "pass") -> dict[str, str]:
    """Return the verdict of a duel of some code with itself, or the reason why there is none."""
    found = {"name": name}

    def compare() -> None:
        result = duel(code, code, setup=setup)
        found.update(verdict=result.verdict.value, text=str(result), state=result.state)

    if error := failure(compare, limit_s=60):
        kind = error.partition("(")[0]  # a function may raise its own exceptions at a later call
        kind = {"UsageError": "refused", "MeasurementError": "failed", "TimeoutError": "failed"}.get(kind, "raised")
        found.update(verdict=kind, text=error, state="")
    return found


def main() -> int:
    """Run the duels, write them to the file, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--number", type=int, default=100, help="of torch's operators, and half of the functions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stateful", type=int, default=0, help="number of duels of each code that keeps state")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _stop)
    warnings.simplefilter("ignore")
    rng, found = random.Random(options.seed), list[dict[str, str]]()
    library, torch = library_calls(rng, options.seed), torch_calls(rng)
    jobs = chain(islice(library, 2 * options.number), islice(torch, options.number))
    duels = (measured(*job) for job in jobs)
    if options.stateful:
        duels = (
            measured(name, code, setup) for name, (setup, code) in STATEFUL.items() for _ in range(options.stateful)
        )
    with options.file.open("w") as file, os.fdopen(os.dup(1), "w") as screen, Path(os.devnull).open("r+") as nothing:
        for descriptor in range(3):
            os.dup2(nothing.fileno(), descriptor)  # the functions may print, read and close what they like
        os.chdir(tempfile.mkdtemp(prefix="fairclock-functions-"))
        for each in duels:
            found.append(each)
            file.write(json.dumps(each) + "\n")
        for group in dict.fromkeys(each["name"].partition(":")[0] for each in found):
            ours = [each for each in found if each["name"].partition(":")[0] == group]
            state = sum(bool(each["state"]) for each in ours)
            print(f"{group}:", dict(Counter(each["verdict"] for each in ours)), f"state named: {state}", file=screen)
        wrong = [each for each in found if each["verdict"] in {"faster", "slower", "failed"}]
        print(*(f"{each['name']}: {each['text']}" for each in wrong), sep="\n", file=screen)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
