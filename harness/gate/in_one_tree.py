"""The `duel` fixture: compare two ways in one source tree inside a test.

    def test_parse(duel):
        assert duel("new(text)", "old(text)", setup="text = 'a' * 1000").not_slower(by=0.03)

Statements can use the names of the test's module. A check that does not hold is measured a second time, and fails only
if it does not hold then either. Its text in the output of pytest is the result of the last duel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.paired.duel import Duel

Statement = str | Callable[[], object]


@dataclass(frozen=True, slots=True)
class DuelFixture:
    """The value of the `duel` fixture. `names` are visible for the statements. With `strict`, UNDECIDED fails."""

    names: Mapping[str, object]
    strict: bool = False

    def __call__(self, candidate: Statement, baseline: Statement, **options: Any) -> "WaysInOneTree":
        """Return the two ways, which are measured by the methods `not_slower` and `faster`.

        `options` are those of `harness.paired.duel.duel`: `setup`, `candidate_setup`, `baseline_setup`, `globals`,
        `budget_s` (1 second), `clock` and `seed`.
        """
        options["globals"] = {**self.names, **(options.get("globals") or {})}
        return WaysInOneTree(candidate, baseline, options, strict=self.strict)

    def __repr__(self) -> str:
        return "duel"


@dataclass(frozen=True, slots=True)
class WaysInOneTree:
    """Two statements or functions, of which the candidate is compared with the baseline."""

    candidate: Statement
    baseline: Statement
    options: dict[str, Any]
    strict: bool = False

    def not_slower(self, by: float = 0.01, *, strict: bool | None = None) -> "DuelCheck":
        """Check that the candidate takes at most `by` more time than the baseline: 0.03 allows 3 %.

        UNDECIDED counts as not slower, except with `strict`. Its default is the option `--duel-strict`.
        """
        is_strict = self.strict if strict is None else strict
        return self._check({"faster", "same"} if is_strict else {"faster", "same", "undecided"}, by)

    def faster(self, by: float = 0.01) -> "DuelCheck":
        """Check that the baseline takes more than `by` more time than the candidate. UNDECIDED counts as not faster."""
        return self._check({"faster"}, by)

    def _check(self, passing: set[str], by: float) -> "DuelCheck":
        from harness.paired.duel import duel  # noqa: PLC0415 - only a check needs it

        for _ in range(2):
            found = duel(self.candidate, self.baseline, margin=by, **self.options)
            if found.verdict in passing:
                break
        return DuelCheck(found, found.verdict in passing)

    def __repr__(self) -> str:
        return f"<{_name(self.candidate)} against {_name(self.baseline)}>"


@dataclass(frozen=True, slots=True)
class DuelCheck:
    """Whether a check holds, as its truth value, and the duel that was measured last."""

    duel: "Duel"
    holds: bool

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return f"<{self.duel}>"


def _name(way: Statement) -> str:
    return repr(way) if isinstance(way, str) else str(getattr(way, "__qualname__", way))
