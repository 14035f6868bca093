"""Read zip archives that students hand in, in memory. If one file is bad, the whole zip is refused."""

import io
import stat
import struct
import unicodedata
import warnings
import zipfile
import zlib
from pathlib import PurePosixPath

from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, Refusal

MAX_ARCHIVE_BYTES = 20_000_000  # two uncompressed notebooks of the maximum size
MAX_MEMBERS = 500  # a zip with all exercises and with files of editors has fewer
MAX_TOTAL_BYTES = 50_000_000  # the sum of the uncompressed file sizes that a zip declares
MAX_NAME_CHARACTERS = 255  # the longest file name that common file systems allow
_COMPRESSIONS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # an LZMA dictionary may need gigabytes
_ENCRYPTED = 0x1
_AGAIN = "make a new one with `python -m grader submit`."
# What zipfile raises for bytes that are not a valid zip.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)

_JUNK = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})


def is_junk(name: str) -> bool:
    """Return whether a path is a file that operating systems or editors leave behind, such as `.DS_Store`."""
    return any(part in _JUNK or part.startswith(".") for part in PurePosixPath(name).parts)


def members(data: bytes, wanted: frozenset[str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the files in a zip whose file name is in `wanted`, as a dict from path to bytes, and all other paths.

    Raise `Refusal`, and no other exception, for data that is not a zip, and for a zip that is too large, damaged or
    malicious.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise Refusal(f"The zip is larger than {MAX_ARCHIVE_BYTES:,} bytes; {_AGAIN}")
    try:
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _judge(infos)
            files = [info for info in infos if not info.is_dir() and not is_junk(info.filename)]
            taken = [info for info in files if PurePosixPath(info.filename).name in wanted]
            others = tuple(info.filename for info in files if info not in taken)
            return {info.filename: _read(archive, info) for info in taken}, others
    except NotImplementedError:
        raise Refusal(f"The zip uses a feature that the grader does not support; {_AGAIN}") from None
    except _DAMAGE:
        raise Refusal(f"The zip is damaged and cannot be read; {_AGAIN}") from None


def _judge(infos: list[zipfile.ZipInfo]) -> None:
    if len(infos) > MAX_MEMBERS:
        raise Refusal(f"The zip contains more than {MAX_MEMBERS} files; {_AGAIN}")
    if sum(info.file_size for info in infos) > MAX_TOTAL_BYTES:
        raise Refusal(f"The zip would unpack to more than {MAX_TOTAL_BYTES:,} bytes; {_AGAIN}")
    seen: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        for name in (info.orig_filename, info.filename):  # an extra field may hold a second name (Python 3.12)
            _judge_name(name)
        _judge_kind(info)
        # Names that differ only in case or Unicode form mean the same file on some file systems.
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", info.filename).casefold())
        if (other := seen.setdefault(folded, info)) is not info:
            same = other.filename == info.filename
            what = "the same name twice" if same else "two names that differ only in case or Unicode form"
            raise Refusal(f"The zip contains {what} ({_shown(info.filename)}); {_AGAIN}")


def _judge_name(name: str) -> None:
    path = PurePosixPath(name)
    if len(path.name) > MAX_NAME_CHARACTERS:
        raise Refusal(f"The zip contains a file name longer than {MAX_NAME_CHARACTERS} characters; {_AGAIN}")
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name or not path.name:
        raise Refusal(f"The zip contains a path that leads out of it ({_shown(name)}); {_AGAIN}")


def _judge_kind(info: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)  # Unix mode in the upper half; 0 from other systems
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise Refusal(f"The zip contains a link or device ({_shown(info.filename)}); {_AGAIN}")
    if info.flag_bits & _ENCRYPTED:
        raise Refusal(f"The zip is protected by a password; {_AGAIN}")
    if info.compress_type not in _COMPRESSIONS:
        raise Refusal(f"The zip uses a compression method that the grader does not support; {_AGAIN}")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > MAX_NOTEBOOK_BYTES:
        name = _shown(info.filename)
        raise Refusal(f"{name} is larger than {MAX_NOTEBOOK_BYTES:,} bytes; hand in only the exercise.")
    with archive.open(info) as member:
        return member.read(MAX_NOTEBOOK_BYTES + 1)  # zipfile checks the CRC, and reads no more than the declared size


def _shown(name: str) -> str:
    return ascii(name[:60])[1:-1]
