"""Write the zip that a student hands in. It has the exercise files and a manifest. Equal files give an equal zip.

A file that would be refused in the grading of the class is refused here, because the student can still correct it.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from grader.files import write_atomically
from grader.hand_ins import archives, manifest
from grader.hand_ins.collect import submission_of
from grader.hand_ins.manifest import Manifest, ManifestEntry
from grader.hand_ins.refusal import Refusal, digest
from harness.errors import UsageError
from harness.storage.overwriting import refuse_edited

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in the zip format
_PLAIN_FILE = 0o100644


def submit(files: Mapping[str, Path], out: Path, *, kit: str, force: bool = False) -> bool:
    """Write the zip `out` with one file per lesson. Return whether it replaces an existing file.

    In the zip, a file has the name of its lesson. Raise `UsageError` if there are no files, or if the grading of the
    class would refuse a file. Also raise it if `out` exists, is not a zip that `submit` wrote, and `force` is not set.
    """
    if not files:
        raise UsageError("There is no exercise to hand in.")
    refuse_edited(out, force=force, is_ours=is_submission)
    contents: dict[str, bytes] = {}
    for lesson, path in sorted(files.items()):
        refusal = submission_of(path, student="", lesson=lesson).refusal
        if refusal:
            raise UsageError(refusal)
        contents[lesson + path.suffix] = path.read_bytes()
    replaced = out.exists()
    write_atomically(out, _zipped(contents, kit))
    return replaced


def is_submission(path: Path) -> bool:
    """Return whether a file is a zip that `submit` wrote and that was not changed later."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(archive.namelist())
        files, _ = archives.members(path.read_bytes(), frozenset(names))
        listed = Manifest.from_json(files.pop(manifest.NAME, b""))
        for name, data in files.items():
            listed.check(name, digest(data))
    except (zipfile.BadZipFile, Refusal):
        return False
    return names == sorted([manifest.NAME, *(entry.file for entry in listed.files)])


def _zipped(contents: dict[str, bytes], kit: str) -> bytes:
    entries = tuple(ManifestEntry(Path(name).stem, name, digest(data)) for name, data in contents.items())
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**contents, manifest.NAME: Manifest(kit, entries).to_json()}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix on every system, because the next line is a Unix mode
            info.external_attr = _PLAIN_FILE << 16
            archive.writestr(info, data)
    return text.getvalue()
