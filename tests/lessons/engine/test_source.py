import runpy
from pathlib import Path

from lessons.engine.source import code_of

ANNOTATED = """
def annotated(
    first: dict[str, int],
    *,  # fmt: skip
    second: str = "-> no annotation: #noqa",
) -> dict[
    str,
    int,
]:
    # noqa: D103
    def inner(third: int) -> tuple[list[int], str]:  # type: ignore[return-value]  # for the test
        return first[third:]  # a comment for people

    return {"->": inner(2)}  # noqa: ERA001
"""


def test_return_annotations_and_comments_for_tools_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(ANNOTATED)
    assert code_of(runpy.run_path(str(tmp_path / "a.py"))["annotated"]).splitlines() == [
        "def annotated(",
        "    first: dict[str, int],",
        "    *,",
        '    second: str = "-> no annotation: #noqa",',
        "):",
        "    def inner(third: int):",
        "        return first[third:]  # a comment for people",
        "",
        '    return {"->": inner(2)}',
    ]
