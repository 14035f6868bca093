"""Caches: what is in them when a measurement begins, and how to leave nothing of use there.

A repeated call finds its inputs where its last run left them, in a cache. Whoever calls it once, between other work,
waits for memory instead. Running a *flush* before each call times the second case.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_FLUSH: Final = 64 << 20
"""Bytes written at most. A last-level cache of hundreds of MiB serves a host's many machines at once: writing all of it
takes longer than any measurement, and the parts nearer to the core are long overwritten by then."""

UNKNOWN_CACHE: Final = 16 << 20
"""Bytes assumed where the system does not say."""

_SYSFS: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cpu_cache_bytes(folder: Path = _SYSFS) -> int:
    """Return the size of the largest cache of the first core; `UNKNOWN_CACHE` where Linux tells none."""
    sizes = [_size(path.read_text(encoding="ascii").strip()) for path in folder.glob("index*/size")]
    return max(sizes, default=0) or UNKNOWN_CACHE


def cpu_flush() -> Callable[[], None]:
    """Return a function that overwrites the caches of the core it runs on, twice their size or `LARGEST_FLUSH`."""
    import torch  # noqa: PLC0415 - takes over a second, and few who look at devices flush

    return _overwrite(torch.empty(min(2 * cpu_cache_bytes(), LARGEST_FLUSH), dtype=torch.uint8))


def cuda_flush(index: int) -> Callable[[], None]:
    """Return a function that puts a write of twice the L2 cache of GPU `index` in its current stream."""
    import torch  # noqa: PLC0415 - as above

    n_bytes = 2 * torch.cuda.get_device_properties(index).L2_cache_size
    return _overwrite(torch.empty(n_bytes, dtype=torch.uint8, device=f"cuda:{index}"))


def _overwrite(buffer: "Tensor") -> Callable[[], None]:
    def flush() -> None:
        buffer.zero_()

    return flush


def _size(text: str) -> int:
    """Return the bytes of a size as the kernel writes it, "2048K"; 0 for anything else."""
    digits, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(digits) * unit if digits.isdigit() else 0
