"""Work on texts: parsing, JSON, regular expressions and building."""

import json
import re
from itertools import repeat

EXPRESSION = "(1 + 2 * (3 - 4)) * 5 + 6 * (7 + (8 - 9) * 2) - (10 + 11) * (12 - 13 * (14 + 15)) + 16 * 17"
RECORD = {f"field {k}": {"name": f"value {k}", "price": k / 7, "tags": ["a", "b", str(k)]} for k in range(8)}
LINE = '127.0.0.1 - ada [10/Oct/2025:13:55:36] "GET /index.html" 200 2326'
FIELDS = re.compile(r'(\S+) - (\w+) \[([^]]+)\] "(\w+) (\S+)" (\d+) (\d+)')


def tokens(text: str) -> list[str]:
    """Return the numbers and signs of an expression, the last one first."""
    found = re.findall(r"\d+|[-+*()]", text)
    return found[::-1]


def expression(rest: list[str]) -> int:
    """Return the value of a sum, and take its tokens."""
    value = product(rest)
    while rest and rest[-1] in "+-":
        sign = rest.pop()
        right = product(rest)
        value = value + right if sign == "+" else value - right
    return value


def product(rest: list[str]) -> int:
    """Return the value of a product, and take its tokens."""
    value = atom(rest)
    while rest and rest[-1] == "*":
        rest.pop()
        value *= atom(rest)
    return value


def atom(rest: list[str]) -> int:
    """Return the value of a number or of an expression in brackets, and take its tokens."""
    first = rest.pop()
    if first != "(":
        return int(first)
    value = expression(rest)
    rest.pop()
    return value


def parsing() -> int:
    """Parse an expression, again and again."""
    value = 0
    for _ in repeat(None, 1000):
        value = expression(tokens(EXPRESSION))
    return value


def records() -> int:
    """Write a record as JSON and read it, again and again."""
    size = 0
    for _ in repeat(None, 200):
        text = json.dumps(RECORD)
        size = len(json.loads(text))
    return size


def log_lines() -> int:
    """Find the fields of a line, again and again."""
    size = 0
    for _ in repeat(None, 100):
        match = FIELDS.match(LINE)
        size = int(match[7]) if match else 0
    return size


def report() -> int:
    """Build a text from lines, and return its length."""
    lines = []
    for _ in repeat(None, 200):
        name = "total".ljust(12, ".")
        lines.append(name + str(12.5) + " EUR\n")
    text = "".join(lines)
    return len(text)
