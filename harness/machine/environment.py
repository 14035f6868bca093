"""The environment of a measurement: the machine and the software. It is saved with the measured figures."""

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from harness.errors import UsageError
from harness.rendering import units

ABSENT, NOT_ASKED = "absent", "not asked"
"""The version of a package that is not installed, and the `cuda_device` if `capture` did not search for a GPU."""

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
"""Environment variables that change the speed of the same code on the same machine."""

GIL_ON, GIL_OFF = "on", "off"
GIL_ON_AGAIN = "on in a free-threaded build"
"""`PYTHON_GIL=1`, `-X gil=1`, or an extension module that needs the GIL has switched it on again."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The properties of a machine and its software that change measured times.

    `usable_cores` is the number of cores that this process may use. `cuda_device` is None if torch found no GPU, and
    `NOT_ASKED` if `capture` did not search for one. `settings` holds the variables of `SETTINGS` that are set. `gil` is
    `GIL_ON`, `GIL_OFF` or `GIL_ON_AGAIN`.
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
        """Return the environment of this process: its machine and software.

        With `ask_cuda`, search for a GPU, which imports torch and takes seconds. By default, search only if torch is
        already imported.
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
            libc=" ".join(platform.libc_ver()),
            settings=tuple((name, os.environ[name]) for name in SETTINGS if name in os.environ),
            kit=version_of("fairclock"),
            gil=gil(),
        )

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the environment that `to_dict` converted to `record`. Raise `UsageError` for any other dictionary."""
        try:
            return cls(**{**record, "settings": tuple(sorted(record["settings"].items()))})
        except (AttributeError, KeyError, TypeError) as error:
            raise UsageError(
                f"A record of an environment has wrong fields ({error}). Another version of fairclock wrote it, or a "
                "person edited it. Measure again."
            ) from error

    def to_dict(self) -> dict[str, object]:
        """Return the fields as a dictionary for JSON, which `from_dict` reads."""
        return {**asdict(self), "settings": dict(self.settings)}

    def fingerprint(self) -> str:
        """Return twelve hexadecimal digits. They are equal for environments whose measured times can be compared."""
        record = {name: value for name, value in self.to_dict().items() if name != "kit"}
        if self.cuda_device == NOT_ASKED:
            record["cuda_device"] = None
        if self.gil == GIL_ON:
            del record["gil"]  # so the usual build of Python has the same fingerprint as before `gil` was added
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:12]

    def describe(self) -> str:
        """Return a line such as "2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA"."""
        cores = units.some(self.cores, "core")
        if self.usable_cores != self.cores:
            cores = f"{self.usable_cores} of {cores}"
        python = f"{'Python' if self.implementation == 'CPython' else self.implementation} {self.python}"
        if self.free_threaded:
            python += f" (free-threaded, GIL {'off' if self.gil == GIL_OFF else 'on'})"
        parts = [cores, python, f"torch {self.torch.partition('+')[0]}"]
        if self.cuda_device != NOT_ASKED:
            parts.append(self.cuda_device or "no CUDA")
        return " · ".join(parts)

    @property
    def free_threaded(self) -> bool:
        """Whether this is a free-threaded build of Python, even if its GIL is on now."""
        return self.gil != GIL_ON

    def caution(self) -> str:
        """Return a warning about times on a free-threaded build of Python, or "" for the usual build."""
        if self.gil == GIL_ON:
            return ""
        off = self.gil == GIL_OFF
        state, also = ("off", ", and several threads run Python code at the same time") if off else ("on", "")
        return (
            f"This Python is free-threaded and its GIL is {state}: code on one thread takes longer than in the usual "
            f"build{also}. Compare its times only with times of such a build."
        )

    def differences(self, other: "Environment") -> tuple[str, ...]:
        """Return "field: own value, other value" for each field that differs. A GPU is compared only if both asked."""
        own, others = self.to_dict(), other.to_dict()
        if NOT_ASKED in (self.cuda_device, other.cuda_device):
            others["cuda_device"] = own["cuda_device"]
        return tuple(
            f"{name}: {_shown(own[name])}, {_shown(others[name])}" for name in own if own[name] != others[name]
        )


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={setting}" for name, setting in value.items()) or "none"
    return "none" if value is None else str(value)


@cache
def version_of(distribution: str) -> str:
    """Return the version of an installed package, or `ABSENT`."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ABSENT


@cache
def _cpu_model() -> str:
    """Return the processor's name. `platform.processor()` is slower, because it starts a process, and less precise."""
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines() if cpuinfo.exists() else []:
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "cpu model"}:
            return value.strip()
    return os.environ.get("PROCESSOR_IDENTIFIER", platform.machine())


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def gil() -> str:
    """Return the state of the GIL in this process: `GIL_ON`, `GIL_OFF` or `GIL_ON_AGAIN`."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return GIL_ON
    return GIL_ON_AGAIN if getattr(sys, "_is_gil_enabled", lambda: True)() else GIL_OFF


@cache
def _cuda_device() -> str | None:
    import torch  # noqa: PLC0415 - takes more than a second, and only this function needs it

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None
