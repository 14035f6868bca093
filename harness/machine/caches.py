"""Flush a processor's caches, so that a measured call reads its inputs from memory.

A repeated call reads its inputs from a cache, because the previous call has just used them. A single call between other
work reads its inputs from memory, which takes longer. To time such a single call, run a *flush* before each call.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_FLUSH: Final = 64 << 20
"""The largest number of bytes that one flush writes. Several virtual machines may share a last-level cache of hundreds
of MiB, and overwriting all of it takes longer than a measurement. 64 MiB are enough to overwrite the caches that are
closer to the core."""

UNKNOWN_CACHE: Final = 16 << 20
"""The assumed size of a cache in bytes if the system does not report its cache sizes."""

_SYSFS: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cpu_cache_bytes(folder: Path = _SYSFS) -> int:
    """Return the size of the first core's largest cache in bytes, or `UNKNOWN_CACHE` if Linux reports no cache."""
    sizes = [_size(path.read_text(encoding="ascii").strip()) for path in folder.glob("index*/size")]
    return max(sizes, default=0) or UNKNOWN_CACHE


def cpu_flush() -> Callable[[], None]:
    """Return a function that overwrites the CPU's caches. It writes at most `LARGEST_FLUSH` bytes."""
    import torch  # noqa: PLC0415 - takes more than a second, and few callers flush

    return _overwrite(torch.empty(min(2 * cpu_cache_bytes(), LARGEST_FLUSH), dtype=torch.uint8))


def cuda_flush(index: int) -> Callable[[], None]:
    """Return a function that overwrites the L2 cache of GPU `index`.

    The write is queued on the GPU's current stream.
    """
    import torch  # noqa: PLC0415 - as above

    n_bytes = 2 * torch.cuda.get_device_properties(index).L2_cache_size
    return _overwrite(torch.empty(n_bytes, dtype=torch.uint8, device=f"cuda:{index}"))


def _overwrite(buffer: "Tensor") -> Callable[[], None]:
    def flush() -> None:
        buffer.zero_()

    return flush


def _size(text: str) -> int:
    """Return the number of bytes that the kernel writes as a text such as "2048K". Return 0 for any other text."""
    digits, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(digits) * unit if digits.isdigit() else 0
