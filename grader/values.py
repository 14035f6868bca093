"""Plain values: what may travel between the supervisor and a submission as a number, a text or a list of them."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = None | bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]
