"""The rules for files, as data. These tests do not use the kernel."""

from pathlib import Path

from grader.isolation import without_namespaces as landlock
from grader.isolation.without_namespaces import Access


def test_each_version_denies_all_that_it_can_and_is_asked_for_nothing_else() -> None:
    newest_of = [Access.MAKE_SYM, Access.REFER, Access.TRUNCATE, Access.TRUNCATE, Access.IOCTL_DEV]
    for version, words in ((1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (99, 3)):
        newest = newest_of[min(version, 5) - 1]
        made = landlock.ruleset({Path("/own"): landlock.OWN}, version)
        attributes = bytes.fromhex(made["attributes"])
        assert len(attributes) == 8 * words
        handled = int.from_bytes(attributes[:8], "little")
        assert handled == 2 * newest - 1
        assert set(attributes[8:]) <= {0, 0b11}
        ((path, allowed),) = made["rules"]
        assert path == "/own"
        assert allowed & ~handled == 0
        assert allowed & Access.WRITE_FILE
        assert not allowed & (Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.MAKE_SOCK)


def test_what_is_hidden_in_a_folder_is_left_out_and_its_neighbours_are_not(tmp_path: Path) -> None:
    for name in ("packages/grader/tasks", "packages/torch", "packages/solutions", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages" / "linked").symlink_to(tmp_path / "packages" / "solutions")
    packages = tmp_path / "packages"
    hidden = [packages / "grader" / "tasks", packages / "solutions", Path("/elsewhere")]
    allowed = dict(landlock.rules_around(tmp_path, hidden))
    reads = {path for path, access in allowed.items() if access & Access.READ_FILE}
    assert reads == {tmp_path / "bin", packages / "torch"}
    assert {path for path in allowed if path not in reads} == {tmp_path, packages, packages / "grader"}
    assert all(allowed[path] == Access.READ_DIR for path in allowed if path not in reads)


def test_a_folder_that_is_hidden_itself_is_not_allowed_at_all(tmp_path: Path) -> None:
    assert list(landlock.rules_around(tmp_path, [tmp_path])) == []
    assert list(landlock.rules_around(tmp_path, [tmp_path.parent])) == [(tmp_path, landlock.READ)]


def test_before_a_submission_is_loaded_all_of_proc_is_given_up_but_the_process_itself() -> None:
    rules = landlock.tree_rules([Path("/usr")], [], Path("/own"))
    assert rules[Path("/proc")] == landlock.READ
    narrowed = landlock.narrowed(rules)
    of_proc = {path for path in narrowed if path.is_relative_to("/proc")}
    assert of_proc == {Path("/proc/self"), *(Path("/proc", name) for name in landlock.ABOUT_THE_MACHINE)}
    assert narrowed.keys() - of_proc == rules.keys() - {Path("/proc")}
    writable = {path for path, access in narrowed.items() if access & Access.WRITE_FILE}
    assert writable == {Path("/own"), *(Path("/dev", name) for name in landlock.DEVICES)}
