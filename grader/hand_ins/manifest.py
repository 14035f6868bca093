"""Read and write `manifest.json`, a list of the files in a zip that the command `submit` makes."""

import json
from dataclasses import asdict, astuple, dataclass

from grader.hand_ins.refusal import Refusal

NAME = "manifest.json"
FORMAT = 1
MAX_CHARACTERS = 255  # of a text in `manifest.json`; versions, file names and SHA-256 digests are shorter
_CHANGED = "The zip was changed after `submit` wrote it"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One exercise file in a zip: its lesson, its name in the zip, and its SHA-256 in hexadecimal."""

    lesson: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of one zip, and the version of the course that made the zip."""

    kit: str
    files: tuple[ManifestEntry, ...]

    def to_json(self) -> bytes:
        """Return the bytes of `manifest.json`. They are equal for equal manifests."""
        record = {"format": FORMAT, "kit": self.kit, "files": [asdict(entry) for entry in self.files]}
        return json.dumps(record, indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        """Return the manifest that `to_json` wrote. Raise `Refusal` for any other data."""
        try:
            record = json.loads(data)
            kit = record["kit"]
            files = tuple(ManifestEntry(item["lesson"], item["file"], item["sha256"]) for item in record["files"])
            texts = (kit, *(text for entry in files for text in astuple(entry)))
            is_valid = record["format"] == FORMAT and all(map(_is_plain, texts))
        except (ValueError, TypeError, KeyError, RecursionError):
            is_valid = False
        if not is_valid:
            raise Refusal(f"{_CHANGED} ({NAME} cannot be read); run `fairclock submit` again.")
        return cls(kit, files)

    def check(self, file: str, sha256: str) -> None:
        """Raise `Refusal` unless the manifest lists the file `file` with this SHA-256."""
        listed = {entry.file: entry.sha256 for entry in self.files}
        if listed.get(file) != sha256:
            what = f"{file} is not the file it lists" if file in listed else f"it does not list {file}"
            raise Refusal(f"{_CHANGED} ({what}); run `fairclock submit` again.")


def _is_plain(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_CHARACTERS and value.isprintable()
