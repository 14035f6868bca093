"""The checks of a template process and of its forks, before a submission is loaded."""

import pytest

from grader.inside import tree_namespaces

SYSTEM = "7f0000000000-7f0000001000 r--s 00000000 fe:00 33     /usr/lib/gconv/gconv-modules.cache"
PRIVATE = "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n7f0000002000-7f0000003000 r-xp 00000000 fe:00 7 /tmp/a b"


@pytest.mark.parametrize("maps", ["", PRIVATE, f"{PRIVATE}\n{SYSTEM}"])
def test_private_memory_and_read_only_files_of_the_system_are_allowed(maps: str) -> None:
    tree_namespaces.check_nothing_shared(maps)


def test_read_only_files_of_a_kept_folder_are_allowed_and_their_neighbors_are_refused() -> None:
    line = "7f0000000000-7f0000001000 r--s 00000000 00:01 12     /tmp/a b/lib"
    tree_namespaces.check_nothing_shared(line, ["/tmp/a b"])  # noqa: S108
    for folder in ("/tmp/a", "/tmp/a b/lib"):  # noqa: S108
        with pytest.raises(OSError, match="shared memory"):
            tree_namespaces.check_nothing_shared(line, [folder])


@pytest.mark.parametrize(
    "line",
    [
        "7f0000000000-7f0000001000 rw-s 00000000 00:01 12     /dev/zero (deleted)",
        "7f0000000000-7f0000001000 r--s 00000000 00:01 12     /dev/zero (deleted)",
        "7f0000000000-7f0000001000 rw-s 00000000 00:01 12     /usr/lib/a",
        "7f0000000000-7f0000001000 r--s 00000000 00:01 12     /dev/shm/a",
        "7f0000000000-7f0000001000 r--s 00000000 00:01 12     /memfd:a (deleted)",
        "7f0000000000-7f0000001000 rw-s 00000000 00:00 0 ",
    ],
)
def test_memory_that_two_trees_would_share_is_refused(line: str) -> None:
    with pytest.raises(OSError, match="shared memory"):
        tree_namespaces.check_nothing_shared(f"{PRIVATE}\n{line}\n{SYSTEM}")


NONE = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0000000000000000")


def status(**changed: str) -> str:
    return "".join(f"{name}:\t{value}\n" for name, value in {**NONE, "NoNewPrivs": "1", **changed}.items())


def test_a_process_without_privileges_is_accepted() -> None:
    tree_namespaces.check_dropped(status())


@pytest.mark.parametrize("kept", [*({name: "0000000000000001"} for name in NONE), {"NoNewPrivs": "0"}])
def test_a_process_that_has_kept_a_privilege_is_refused(kept: dict[str, str]) -> None:
    with pytest.raises(OSError, match="has kept privileges"):
        tree_namespaces.check_dropped(status(**kept))
