"""Which machine and which software a figure was measured on: what belongs beside every figure that is kept.

Two figures may be set side by side when their environments have the same `fingerprint()`; where they differ,
`differences()` says in what. Capturing one is cheap: it does not import torch, and asks for a GPU only where
torch is already loaded or the caller says so.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Self

from harness import units
from harness.errors import UsageError

ABSENT = "absent"
"""Stands where a version would, for a package that is not installed."""

NOT_ASKED = "not asked"
"""Stands where a GPU's name would, when nobody looked for one."""

SETTINGS = (
    "ATEN_CPU_CAPABILITY",
    "CUDA_VISIBLE_DEVICES",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
)
"""Environment variables that change how fast the same code runs on the same machine."""

GIL_ON = "on"
GIL_OFF = "off"
GIL_ON_AGAIN = "on in a free-threaded build"
"""Whether the global interpreter lock (GIL) lets only one thread at a time run Python code.

A free-threaded build of Python has no GIL, until an extension module that needs one is imported, or the user asks
for it with `PYTHON_GIL=1` or `-X gil=1`.
"""

_KINDS: Mapping[str, type | UnionType] = {
    "cores": int,
    "usable_cores": int,
    "cuda_device": str | NoneType,
    "settings": Mapping,
}
"""What a record's field holds where it is not text."""

_NO_INFLUENCE = frozenset({"kit"})
"""Fields that tell who measured, not how fast the machine is."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One machine and its software, as far as either moves a timing.

    `cores` counts the machine's, `usable_cores` those this process may run on. `cuda_device` is None where
    torch finds no GPU and `NOT_ASKED` where nobody looked. `settings` holds those of `SETTINGS` that are set.
    `gil` is `GIL_ON`, `GIL_OFF` or `GIL_ON_AGAIN`.
    """

    python: str
    implementation: str
    torch: str
    numpy: str
    os: str
    machine: str
    cpu: str
    cores: int
    usable_cores: int
    cuda_device: str | None
    libc: str
    settings: tuple[tuple[str, str], ...]
    kit: str
    gil: str = GIL_ON

    @classmethod
    def capture(cls, *, ask_cuda: bool | None = None) -> Self:
        """Describe the machine this runs on.

        `ask_cuda` says whether to look for a GPU, which imports torch (seconds) and starts CUDA; left out, it
        is looked for where torch is loaded already.
        """
        if ask_cuda is None:
            ask_cuda = "torch" in sys.modules
        return cls(
            python=platform.python_version() + getattr(sys, "abiflags", ""),
            implementation=platform.python_implementation(),
            torch=version_of("torch"),
            numpy=version_of("numpy"),
            os=f"{platform.system()} {platform.release()}",
            machine=platform.machine(),
            cpu=_cpu_model(),
            cores=os.cpu_count() or 1,
            usable_cores=usable_cores(),
            cuda_device=_cuda_device() if ask_cuda else NOT_ASKED,
            libc=" ".join(_libc()),
            settings=tuple((name, os.environ[name]) for name in SETTINGS if name in os.environ),
            kit=version_of("fairclock"),
            gil=gil(),
        )

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> Self:
        """Return what `to_dict` was made of. Raises `UsageError` for a record that is no environment.

        A record without `gil` was written before this field existed, and counts as one of the usual build.
        """
        record = {"gil": GIL_ON, **record}
        for field in fields(cls):
            if not isinstance(record.get(field.name, ...), _KINDS.get(field.name, str)):
                raise UsageError(
                    f"This record of an environment has no usable {field.name!r}; another version of the kit "
                    "wrote it, or it was changed by hand: measure again."
                )
        values = {field.name: record[field.name] for field in fields(cls)}
        settings = values.pop("settings")
        assert isinstance(settings, Mapping)
        pairs = tuple(sorted((str(name), str(value)) for name, value in settings.items()))
        return cls(**values, settings=pairs)  # type: ignore[arg-type]  # each kind was checked above

    def to_dict(self) -> dict[str, object]:
        """Return plain values that JSON can hold; `from_dict` takes them back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "settings": dict(self.settings)}

    def fingerprint(self) -> str:
        """Return twelve hexadecimal digits, the same for two environments whose timings may be compared."""
        return _fingerprint(self)

    def describe(self) -> str:
        """Return one line for people: "2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA".

        A free-threaded build is named: "Python 3.14.0t (free-threaded, GIL off)".
        """
        cores = units.some(self.cores, "core")
        if self.usable_cores != self.cores:
            cores = f"{self.usable_cores} of {cores}"
        name = "Python" if self.implementation == "CPython" else self.implementation
        if self.free_threaded:
            name_and_version = f"{name} {self.python} (free-threaded, GIL {'off' if self.gil == GIL_OFF else 'on'})"
        else:
            name_and_version = f"{name} {self.python}"
        parts = [cores, name_and_version, f"torch {self.torch.partition('+')[0]}"]
        if self.cuda_device != NOT_ASKED:
            parts.append(self.cuda_device or "no CUDA")
        return " · ".join(parts)

    @property
    def free_threaded(self) -> bool:
        """Whether Python was built without the GIL, even where it is on now."""
        return self.gil != GIL_ON

    def caution(self) -> str:
        """Return what to know about times measured on a free-threaded build, or "" on the usual one."""
        if self.gil == GIL_ON:
            return ""
        if self.gil == GIL_OFF:
            return (
                "This Python is free-threaded and its GIL is off: code on one thread takes longer than in the usual"
                " build, and threads run Python at the same time. Compare times only with those of such a build."
            )
        return (
            "This Python is free-threaded and its GIL is on: code on one thread takes longer than in the usual build."
            " Compare times only with those of such a build."
        )

    def differences(self, other: "Environment") -> tuple[str, ...]:
        """Return what differs, one "field: mine, theirs" each, leaving out a GPU that one never asked for."""
        mine, theirs = self.to_dict(), other.to_dict()
        if NOT_ASKED in (self.cuda_device, other.cuda_device):
            theirs["cuda_device"] = mine["cuda_device"]
        return tuple(
            f"{name}: {_shown(mine[name])}, {_shown(theirs[name])}" for name in mine if mine[name] != theirs[name]
        )


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={setting}" for name, setting in value.items()) or "none"
    return "none" if value is None else str(value)


@lru_cache(maxsize=64)
def _fingerprint(environment: Environment) -> str:
    """Worked out once for a machine: a class has thousands of reports of it."""
    record = {name: value for name, value in environment.to_dict().items() if name not in _NO_INFLUENCE}
    if record["cuda_device"] == NOT_ASKED:
        record["cuda_device"] = None
    if record["gil"] == GIL_ON:
        del record["gil"]  # fingerprints of the usual build stay what they were before this field existed
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def version_of(distribution: str) -> str:
    """Return the version of an installed package, or `ABSENT`."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ABSENT


@cache
def _libc() -> tuple[str, str]:
    return platform.libc_ver()


@cache
def _cpu_model() -> str:
    """Return the processor's name. `platform.processor()` would start a process for it and get less."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() in {"model name", "Model", "cpu model"}:
                    return value.strip()
    return os.environ.get("PROCESSOR_IDENTIFIER", platform.machine())


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gil() -> str:
    """Return the state of the GIL in this process now: `GIL_ON`, `GIL_OFF` or `GIL_ON_AGAIN`.

    Python before 3.13 has no `sys._is_gil_enabled`, and always has a GIL.
    """
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return GIL_ON
    return GIL_ON_AGAIN if getattr(sys, "_is_gil_enabled", lambda: True)() else GIL_OFF


@cache
def _cuda_device() -> str | None:
    import torch  # noqa: PLC0415 - takes over a second, and only this answer needs it

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None
