"""Honest ways to write a file that assigns C source. `styles` has those for Python."""

import ast
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

MORE: Final = r"""
/* A comment with "quotes", 'one' and ''' three, ümlauts, 注释, a \ and a line that
   goes on \
   here */
#define BYTES(x) \
  ((x) & 0xFFu)
typedef unsigned char byte_t;
typedef struct { byte_t first; } pair_t;
static inline byte_t first_of(const byte_t *restrict data) { return (byte_t)BYTES(data[0]); }
static const char *const WORDS __attribute__((unused)) = "a \"quoted\" \x41 \n text";
static pair_t unused_pair(const byte_t *restrict data) { pair_t p = {first_of(data)}; return p; }
static pair_t (*const keep)(const byte_t *restrict) __attribute__((unused)) = unused_pair;
"""
"""C code that does not change the answer."""


def _written(write: Callable[[str], str], source: str, names: Sequence[str]) -> str:
    """Return a file with the C source of another file, as `write` writes it. NAME is replaced by the requested name."""
    node = ast.parse(source).body[-1]
    assert isinstance(node, ast.Assign)
    assert isinstance(node.value, ast.Constant)
    above = "".join(source.splitlines(keepends=True)[: node.lineno - 1])
    return f"{above}{write(str(node.value.value)).replace('NAME', names[0])}\n"


def _quoted(code: str, quotes: str = '"""') -> str:
    return f"r{quotes}{code}{quotes}"


def _halves(code: str, between: str) -> str:
    at = code.index("\n", len(code) // 2) + 1
    return _quoted(code[:at]) + between + _quoted(code[at:])


def _f_string(code: str) -> str:
    braces = code.replace("{", "{{").replace("}", "}}").replace("0xEDB88320", "{P:>{W}}").replace("8;", "{8};")
    return f'P, W = 0, 0\nP = "0xEDB88320"\nW = "10"\nNAME = f{_quoted(braces)}'


WRITTEN: Final[Mapping[str, Callable[[str], str]]] = {
    "an annotated text": lambda code: f"from typing import Final\nNAME: str = ''\nNAME: Final[str] = {_quoted(code)}",
    "a constant": lambda code: f"SOURCE = {_quoted(code)}\nNAME = SOURCE",
    "an f-string": _f_string,
    "texts added": lambda code: f"NAME = {_halves(code, ' + ')}",
    "two texts side by side": lambda code: f"NAME = ({_halves(code, ' ')})",
    "a text made longer": lambda code: f"NAME = {_halves(code, f'{chr(10)}NAME += ')}",
    "a dedented text": lambda code: f"NAME = textwrap.dedent({_quoted(textwrap.indent(code, '  '))}).strip()",
    "one text a line": lambda code: "NAME = (\n" + "".join(f" {line!r}\n" for line in code.splitlines(True)) + ")",
    "lines joined": lambda code: f"LINES = {code.splitlines()!r}\nNAME = '\\n'.join(LINES)",
    "tabs, and other quotes": lambda code: f"NAME = {_quoted(code.replace('  ', chr(9)), chr(39) * 3)}",
    "macros, types and comments": lambda code: f"NAME = {_quoted(code.replace('//', f'{MORE}//', 1))}",
    "another name as well": lambda code: f"SOURCE = NAME = {_quoted(code)}",
    "a walrus at top level": lambda code: f"print(len(NAME := {_quoted(code)}))",
    "Windows' line ends": lambda code: f"NAME = {_quoted(code)}".replace("\n", "\r\n"),
    "a test below": lambda code: (
        f"NAME = {_quoted(code)}\nif __name__ == '__main__':\n    import tests; tests.run(NAME)"
    ),
}

IN_C: Final = {name: partial(_written, write) for name, write in WRITTEN.items()}
"""The styles by name: functions from a source text and the names of the requested functions to another text."""
