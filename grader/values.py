"""The values that the grader and a submission exchange: None, booleans, numbers, texts, lists and dicts."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = None | bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]
