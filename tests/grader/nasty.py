"""Hand-ins whose texts, names and structure no honest tool writes; each is one entry of a class's folder.

Each has its expected result: `TAKEN` if the grader accepts it, or a part of the refusal.
"""

import json
import os
import struct
import zipfile
from dataclasses import dataclass
from io import BytesIO

from classroom import KIT, notebook, zipped

from grader.hand_ins.manifest import Manifest

TAKEN = ""
UNICODE_PATH, UTF8 = 0x7075, 0x800
CELL: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
BROKEN_FORMAT = "breaks the notebook format"


@dataclass(frozen=True)
class Nasty:
    """One student's entry in the class: files by name for a folder, or the bytes of one file."""

    name: bytes
    content: dict[bytes, bytes] | bytes
    expected: str = TAKEN

    def hand_in(self, folder: bytes) -> None:
        path = os.path.join(folder, self.name)  # noqa: PTH118 - a Path cannot name all of them
        if isinstance(self.content, bytes):
            _write(path, self.content)
            return
        os.mkdir(path)  # noqa: PTH102
        for name, content in self.content.items():
            _write(os.path.join(path, name), content)  # noqa: PTH118


def _write(path: bytes, content: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(content)


def book(**content: object) -> bytes:
    """Return a notebook's bytes. A lone surrogate becomes JSON's escape."""
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [], **content}).encode()


def cell(source: object, **more: object) -> dict[str, object]:
    """Return a code cell."""
    return {**CELL, "id": "one", "source": source, **more}


def with_second_name(first: str, second: bytes) -> bytes:
    """Return a zip whose member has another name in its Unicode path field (APPNOTE 4.6.9).

    Python reads this field since 3.12.
    """
    info = zipfile.ZipInfo(first)
    info.extra = struct.pack("<HHBL", UNICODE_PATH, 5 + len(second), 1, zipfile.crc32(first.encode())) + second  # type: ignore[attr-defined]
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(info, b"x = 1")
    return data.getvalue()


def with_manifest(**changed: object) -> bytes:
    """Return a zip with a handwritten manifest."""
    record = json.loads(Manifest(KIT, ()).to_json()) | changed
    return zipped([("01_dot.py", b"right"), ("manifest.json", json.dumps(record).encode())])


def _notebooks() -> dict[str, tuple[bytes, str]]:
    half = "x = '\ud800'"
    return {
        "half-a-character": (book(cells=[cell(half)]), "Cell 1 of 01_dot.ipynb contains invalid characters"),
        "half-in-a-list": (book(cells=[cell(["x = 1\n", half])]), "invalid characters"),
        "half-in-prose": (book(cells=[{**CELL, "cell_type": "markdown", "source": half}, cell("right")]), TAKEN),
        "half-in-a-key": (
            book(cells=[cell("right", metadata={"\udc80": "\ud800"}, **{"\ud800": 1})], metadata={"\ud800": half}),
            TAKEN,
        ),
        "half-a-kind": (book(cells=[cell("right") | {"cell_type": "\ud800"}]), BROKEN_FORMAT),
        "half-an-output": (book(cells=[cell("right", outputs=[{"output_type": "\ud800"}])]), TAKEN),
        "carriage-returns": (notebook("x = 1\r\ry = 2\r\n\x0c# right"), TAKEN),
    }


def _zips() -> dict[str, tuple[bytes, str]]:
    return {
        "control-characters": (zipped([("hw\n\x1b[2J\u202e/01_dot.py", b"right")]), TAKEN),
        "zero-in-a-name": (zipped([("hw_/01_dot.py", b"right")]).replace(b"hw_/", b"hw\0/"), "leads out of it"),
        "second-name": (with_second_name("01_dot.py", b"../../../01_dot.py"), ""),
        "second-name-is-no-text": (with_second_name("01_dot.py", b"\xff\xfe"), ""),
        "half-a-kit": (with_manifest(kit="\ud800"), "manifest.json cannot be read"),
        "kit-with-a-line": (with_manifest(kit="9\n<script>"), "manifest.json cannot be read"),
        "half-a-file": (
            with_manifest(files=[{"lesson": "01_dot", "file": "\ud800", "sha256": "\ud800"}]),
            "manifest.json cannot be read",
        ),
    }


def nasty() -> list[Nasty]:
    """Return every kind of nasty hand-in. The file or the student has the name of the kind."""
    made = [Nasty(name.encode(), {b"01_dot.ipynb": data}, said) for name, (data, said) in _notebooks().items()]
    made += [Nasty(f"{name}.zip".encode(), data, said) for name, (data, said) in _zips().items()]
    marks = "# right \u202e\u2066\ufeff\x07\x1b[2J\x0c".encode()
    made += [Nasty(b"marks", {b"01_dot.py": marks}), Nasty(b"zero-byte", {b"01_dot.py": b"right\0"}, "binary data")]
    students = (
        b"\xff\xfe",
        rb"\xff\xfe",
        "\u202eevil\n\r\x1b[2J".encode(),
        b"=1+1,\"'",
        b"x" * 255,
        b" ",
        b"\xed\xa0\x80",
    )
    return [*made, *(Nasty(name, {b"01_dot.py": b"right", b"\xff\n.txt": b""}) for name in students)]
