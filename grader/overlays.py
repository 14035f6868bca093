"""Build the whole text of a submission file that imports definitions from other files of its folder."""

import re
from pathlib import Path

_IMPORT = re.compile(r"^from (\w+) import (?:\([^)]*\)|.*)\n", re.MULTILINE)


def whole(path: Path) -> str:
    """Return the text of a file, with the text of another file of its folder in place of each import from this file."""

    def inlined(match: re.Match[str]) -> str:
        file = path.with_name(f"{match[1]}.py")
        return whole(file) if file.is_file() else match[0]

    return _IMPORT.sub(inlined, path.read_text(encoding="utf-8"))
