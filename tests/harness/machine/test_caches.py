from pathlib import Path

import pytest

from harness.machine import caches


def sysfs(folder: Path, *sizes: str) -> Path:
    for number, size in enumerate(sizes):
        (folder / f"index{number}").mkdir()
        (folder / f"index{number}" / "size").write_text(f"{size}\n")
    return folder


def test_the_largest_cache_of_the_core_is_returned(tmp_path: Path) -> None:
    assert caches.cpu_cache_bytes(sysfs(tmp_path, "48K", "64K", "2048K", "32M")) == 32 << 20


def test_a_default_size_is_assumed_where_the_system_reports_none(tmp_path: Path) -> None:
    for number, sizes in enumerate([(), ("",), ("none",), ("0K",)]):
        (folder := tmp_path / str(number)).mkdir()
        assert caches.cpu_cache_bytes(sysfs(folder, *sizes)) == caches.UNKNOWN_CACHE


def test_a_flush_of_a_huge_cache_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "cpu_cache_bytes", lambda: 1 << 50)
    caches.cpu_flush()()
