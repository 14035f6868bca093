from pathlib import Path

import pytest

from grader.desk import only_here

IMPORTS = {
    "import my_helper": ["my_helper"],
    "def f():\n    from harness.paired import duel": ["harness"],
    "import folder.inside, grader.task": ["folder", "grader"],
    "import math\nimport torch.nn\nfrom . import my_helper": [],
    "import my_helper\nthis is no Python": [],
}


@pytest.mark.parametrize("source", IMPORTS)
def test_imports_that_the_graded_class_lacks_are_named(source: str, tmp_path: Path) -> None:
    (tmp_path / "my_helper.py").touch()
    (tmp_path / "folder").mkdir()
    path = tmp_path / "04_autorange.py"
    path.write_text(source, encoding="utf-8")
    warned = [*only_here.warnings(path, "04_autorange")]
    assert [warning.split("`")[1].removeprefix("import ") for warning in warned] == IMPORTS[source]
