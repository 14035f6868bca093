"""Zip archives as hand-ins, read in memory: nothing is ever unpacked to disk.

Every member's name is judged before any member is read, sizes are bounded by what is really inflated and not
by what the archive says of itself, and one bad member refuses the whole archive.
"""

import io
import stat
import struct
import unicodedata
import warnings
import zipfile
import zlib
from pathlib import PurePosixPath

from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, Refusal

MAX_ARCHIVE_BYTES = 20_000_000
"""Largest zip opened: two notebooks of the largest size taken, not compressed at all."""

MAX_MEMBERS = 500
"""More files than all exercises of the kit have, with what editors leave beside them."""

MAX_TOTAL_BYTES = 50_000_000
"""Largest sum of sizes that an archive may declare."""

MAX_NAME_CHARACTERS = 255
"""The longest file name that common file systems hold."""

_COMPRESSIONS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # LZMA may ask for gigabytes of dictionary
_ENCRYPTED = 0x1
_AGAIN = "make it with `python -m grader submit`."
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What `zipfile` is known to raise on bytes that are not a sound archive."""

_JUNK = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})


def is_junk(name: str) -> bool:
    """Tell whether a path is what systems and editors leave beside people's files."""
    return any(part in _JUNK or part.startswith(".") for part in PurePosixPath(name).parts)


def members(data: bytes, wanted: frozenset[str]) -> dict[str, bytes]:
    """Return the bytes of the members whose last name is in `wanted`, by their path in the archive.

    Raises `Refusal`, and nothing else, for what is no zip, is too large, is damaged or was made to do harm.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise Refusal(f"The zip is larger than {MAX_ARCHIVE_BYTES:,} bytes; {_AGAIN}")
    try:
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _judge(infos)
            return {info.filename: _read(archive, info) for info in infos if _is_file(info) and _last(info) in wanted}
    except NotImplementedError:
        raise Refusal(f"The zip uses a feature that is not read here; {_AGAIN}") from None
    except _DAMAGE:
        raise Refusal(f"The zip is damaged and cannot be read; {_AGAIN}") from None


def others(data: bytes, wanted: frozenset[str]) -> tuple[str, ...]:
    """Return the paths of the members that `members` leaves out, of an archive that it has read."""
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return tuple(info.filename for info in archive.infolist() if _is_file(info) and _last(info) not in wanted)


def _is_file(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member is a file of the student's, and not what systems and editors leave there."""
    return not info.is_dir() and not is_junk(info.filename)


def _last(info: zipfile.ZipInfo) -> str:
    return PurePosixPath(info.filename).name


def _judge(infos: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive by its directory alone."""
    if len(infos) > MAX_MEMBERS:
        raise Refusal(f"The zip holds more than {MAX_MEMBERS} files; {_AGAIN}")
    if sum(info.file_size for info in infos) > MAX_TOTAL_BYTES:
        raise Refusal(f"The zip would unpack to more than {MAX_TOTAL_BYTES:,} bytes; {_AGAIN}")
    seen: dict[str, str] = {}
    for info in infos:
        for name in (info.orig_filename, info.filename):  # a second name may stand in an extra field (Python 3.12)
            _judge_name(name)
        _judge_kind(info)
        # Two names that one file system holds apart are one file on another: which one was meant?
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", info.filename).casefold())
        if folded in seen:
            same = seen[folded] == info.filename
            what = "the same name twice" if same else "two names that differ only in case or Unicode form"
            raise Refusal(f"The zip holds {what} ({_shown(info.filename)}); {_AGAIN}")
        seen[folded] = info.filename


def _judge_name(name: str) -> None:
    path = PurePosixPath(name)
    if len(path.name) > MAX_NAME_CHARACTERS:
        raise Refusal(f"The zip holds a file name longer than {MAX_NAME_CHARACTERS} characters; {_AGAIN}")
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name or not path.name:
        raise Refusal(f"The zip holds a path that leads out of it ({_shown(name)}); {_AGAIN}")


def _judge_kind(info: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)  # Unix mode in the upper half; 0 from other systems
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise Refusal(f"The zip holds a link or device ({_shown(info.filename)}); {_AGAIN}")
    if info.flag_bits & _ENCRYPTED:
        raise Refusal(f"The zip is protected by a password; {_AGAIN}")
    if info.compress_type not in _COMPRESSIONS:
        raise Refusal(f"The zip is compressed in a way that is not read here; {_AGAIN}")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read one member. `zipfile` gives at most its declared size and checks its CRC at the end."""
    if info.file_size > MAX_NOTEBOOK_BYTES:
        name = _shown(info.filename)
        raise Refusal(f"{name} is larger than {MAX_NOTEBOOK_BYTES:,} bytes; hand in the exercise alone.")
    with archive.open(info) as member:
        return member.read(MAX_NOTEBOOK_BYTES + 1)


def _shown(name: str) -> str:
    """Return a name that may hold anything, short and in one line."""
    return ascii(name[:60])[1:-1]
