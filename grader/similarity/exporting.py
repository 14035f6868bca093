"""Write hand-ins as the input of Dolos or JPlag, two programs that compare code.

Dolos reads `info.csv` beside the files (dolos.ugent.be/docs/adding-metadata). JPlag reads one folder per student, a
folder with the base code, and a folder of earlier hand-ins (docs/1.-How-to-Use-JPlag.md in jplag/JPlag).
"""

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.course.roll import folder_name
from grader.files import explained, storable, write_atomically
from grader.similarity.pairs import Code
from grader.similarity.sources import stub_of
from grader.similarity.tokens import c_texts
from harness.errors import UsageError

PROGRAMS: Final = ("dolos", "jplag")


def export(program: str, folder: Path, lessons: Mapping[str, Sequence[Code]]) -> list[str]:
    """Write the attempts that count, by lesson, for `program` into a new folder. Return the commands to run.

    If the exercise of a lesson is a string with C code, the files have only this code. Raise `UsageError` if the folder
    holds files, or if the program is another one.
    """
    if program not in PROGRAMS:
        raise UsageError(f"--export cannot write for {program}. Give {' or '.join(PROGRAMS)}, then a folder.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder. Give the name of a new folder for --export.")
    with explained(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    commands = list[str]()
    for lesson, codes in lessons.items():
        stub, counted = stub_of(lesson), [code for code in codes if code.counts]
        in_c = bool(c_texts(stub))
        suffix = ".c" if in_c else ".py"
        files = {_place(program, code) + suffix: code for code in counted}
        for name, code in files.items():
            _write(folder / lesson / name, code.text, in_c=in_c)
        base = "stub" if program == "dolos" else f"base/{lesson}"
        _write(folder / lesson / f"{base}{suffix}", stub, in_c=in_c)
        where = shlex.quote(str(folder / lesson))
        if program == "dolos":
            _write(folder / lesson / "info.csv", _info(files), in_c=False)
            language = "c" if in_c else "python"
            commands.append(f"cd {where} && dolos run -f web -l {language} -i stub{suffix} info.csv")
        else:
            old = " -old earlier" if any(code.term for code in counted) else ""
            language = "c" if in_c else "python3"
            commands.append(f"cd {where} && java -jar jplag.jar -l {language} -bc base -r result{old} -new students")
    return commands


def _place(program: str, code: Code) -> str:
    name = folder_name(code.who)
    folder = "earlier" if code.term else "students"
    return f"{folder}/{name}" if program == "dolos" else f"{folder}/{name}/{code.lesson}"


def _write(path: Path, text: str, *, in_c: bool) -> None:
    write_atomically(path, storable("\n".join(c_texts(text)) if in_c else text).encode(), mode=0o600, durable=False)


def _info(files: Mapping[str, Code]) -> str:
    made = io.StringIO()
    rows = csv.writer(made)
    rows.writerow(["filename", "full_name", "label", "created_at"])
    for name, code in files.items():
        at = code.at.strftime("%Y-%m-%d %H:%M:%S %z") if code.at else ""
        rows.writerow([name, code.who, code.term or "this term", at])
    return made.getvalue()
