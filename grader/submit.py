"""Handing in: one zip of the exercise files and a manifest, the same bytes for the same files.

What collecting would refuse is refused here already, where the student can still do something about it.
"""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from grader.files import explained, write_atomically
from grader.hand_ins import manifest
from grader.hand_ins.collect import submission_of
from grader.hand_ins.manifest import Entry, Manifest
from grader.hand_ins.refusal import digest
from harness.errors import UsageError

_SUFFIXES = (".py", ".ipynb")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can hold
_PLAIN_FILE = 0o100644


def submit(source: Path | Sequence[Path], out: Path, *, lessons: Sequence[str], kit: str) -> Path:
    """Write the zip `out` of the exercises in the folder `source`, or of the files named; return its path.

    Raises `UsageError` when there is no exercise, a file that cannot be taken, or one lesson twice.
    """
    files = _in_folder(source, lessons) if isinstance(source, Path) else list(source)
    if not files:
        raise UsageError(f"Name at least one exercise file, such as {lessons[0]}.py.")
    contents: dict[str, bytes] = {}
    for path in sorted(files, key=lambda path: path.name):
        if path.stem not in lessons or path.suffix not in _SUFFIXES:
            raise UsageError(f"{path} is no exercise; there are: {', '.join(lessons)} (as .py or .ipynb).")
        if path.stem in {Path(name).stem for name in contents}:
            raise UsageError(f"There are two files for {path.stem}; hand in only one, the .py or the .ipynb.")
        refusal = submission_of(path, student="", lesson=path.stem).refusal
        if refusal:
            raise UsageError(refusal)
        contents[path.name] = path.read_bytes()
    with explained(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, _zipped(contents, kit))
    return out


def _in_folder(folder: Path, lessons: Sequence[str]) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; run this where the kit is, or name the exercises.")
    names = {lesson + suffix for lesson in lessons for suffix in _SUFFIXES}
    found = [path for path in folder.iterdir() if path.name in names]
    if not found:
        raise UsageError(f"{folder} holds no exercise; one is named like {lessons[0]}.py.")
    return found


def _zipped(contents: dict[str, bytes], kit: str) -> bytes:
    entries = tuple(Entry(Path(name).stem, name, digest(data)) for name, data in contents.items())
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**contents, manifest.NAME: Manifest(kit, entries).to_json()}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, whatever this runs on: the next line's mode is one
            info.external_attr = _PLAIN_FILE << 16
            archive.writestr(info, data)
    return text.getvalue()
