from grader.plain_modules import PLAIN_MODULES
from grader.trials.plain_imports import NEVER, beforehand, imported, later


def test_modules_are_found_wherever_a_file_may_import_them() -> None:
    modules = ("math", "re", "collections", "heapq", "operator")
    source = (
        "import math, re as r\nfrom collections.abc import Callable\ndef f():\n    import heapq\n# import operator\n"
    )
    assert imported(source, modules) == ["math", "re", "collections", "heapq", "collections.abc"]
    assert imported("important = 'math'\n", modules) == []
    assert imported("import collections.missing, math.\n", modules) == ["math", "collections"]


def test_what_a_module_imports_when_it_is_used_comes_with_it() -> None:
    assert {"copy", "heapq"} <= set(later("collections"))
    assert {"typing", "weakref"} <= set(later("functools"))
    assert later("math") == ()
    assert beforehand("from collections import Counter\n", PLAIN_MODULES)[:1] == ["collections"]
    assert "heapq" in beforehand("from collections import Counter\n", PLAIN_MODULES)
    assert not any(NEVER & set(later(module)) for module in PLAIN_MODULES)
