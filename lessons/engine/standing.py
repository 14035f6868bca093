"""The four possible results of a claim."""

from enum import StrEnum


class Standing(StrEnum):
    """The result of a claim in one run of a lesson: held, refuted, inconclusive or skipped."""

    HELD = "held"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"

    def words(self, *, held: str, refuted: str, unclear: str) -> str:
        """Return the text that fits this result. For a skipped claim, it is empty."""
        return {self.HELD: held, self.REFUTED: refuted, self.INCONCLUSIVE: unclear}.get(self, "")
