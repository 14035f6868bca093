import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.inside import loading
from grader.inside.protocol import parse
from grader.trials.faults import Raised


@pytest.fixture(autouse=True)
def _no_module_stays() -> Iterator[None]:
    yield
    sys.modules.pop("submission", None)


def test_a_module_has_a_file_unless_the_disk_takes_none_and_exceptions_name_its_line(tmp_path: Path) -> None:
    source = "def f():\n    return 'é'\n"
    module, file = loading.new_module(source, str(tmp_path))
    loading.execute(source, module)
    assert Path(file).read_text(encoding="utf-8") == source
    assert inspect.getfile(module.f) == file
    assert inspect.getsource(module.f) == source
    source = "import json\n\njson.loads('')"
    module, file = loading.new_module(source, str(tmp_path / "nowhere"))
    assert not Path(file).exists()
    with pytest.raises(ValueError, match="Expecting value") as caught:
        loading.execute(source, module)
    assert loading.error_report(caught.value, file)["line"] == 3


@pytest.mark.parametrize("how", ["raise RuntimeError from error", "raise RuntimeError from None", "raise RuntimeError"])
def test_the_systems_refusal_is_told_through_whatever_it_was_wrapped_in(tmp_path: Path, how: str) -> None:
    source = f"""
def f():
    try:
        try: raise OSError(95, "no")
        except OSError as error: {how}
    except RuntimeError as error:
        raise ValueError("wrapped") from error
f()
"""
    module, file = loading.new_module(source, str(tmp_path))
    with pytest.raises(ValueError, match="wrapped") as caught:
        loading.execute(source, module)
    assert loading.error_report(caught.value, file)["errno"] == 95
    caught.value.__cause__ = caught.value  # a chain that leads back to itself ends, too
    assert loading.error_report(caught.value, file)["errno"] is None


ODD = {
    "def __str__(self): raise SystemExit": "(its text cannot be read, because that raises SystemExit)",
    "__str__ = 5": "(its text cannot be read, because that raises TypeError)",
    "def __str__(self): return b'bytes'": "(its text cannot be read, because that raises TypeError)",
    "def __str__(self): return type('T', (str,), {'encode': None})('half \\ud800')": r"half \ud800",
    "__cause__ = __class__ = __traceback__ = errno = property(lambda self: 1 / 0)": "said",
    "errno = 10 ** 5000": "said",
    "lineno = {}": "said",
}


@pytest.mark.parametrize("body", ODD)
@pytest.mark.parametrize("base", ["Exception", "OSError", "SyntaxError", "ExceptionGroup", "SystemExit"])
def test_any_exception_can_be_reported(tmp_path: Path, base: str, body: str) -> None:
    source = f"""
class Kind(type):
    __name__ = property(lambda self: 1 / 0)
class Odd({base}, metaclass=Kind):
    {body}
error = Odd("said", [Odd("said", [ValueError()])]) if {base} is ExceptionGroup else Odd("said")
error.__context__ = error
raise error
"""
    module, file = loading.new_module(source, str(tmp_path))
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - it is examined below
        loading.execute(source, module)
    report = loading.error_report(caught.value, file)
    told = Raised(parse(json.dumps(report).encode()))
    assert told.type == "Odd"
    assert ODD[body] in told.message or base in {"SyntaxError", "ExceptionGroup"}
    assert told.line == 8 or "__traceback__" in body
