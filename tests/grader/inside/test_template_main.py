"""The checks of a template process and of its forks, before a submission is loaded."""

import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from grader.inside import confine, protocol, template_main
from grader.inside.protocol import Channel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def checked(extra: int | None, control: int) -> int:
    """Return the exit status of a fork that keeps only its standard descriptors, `control` and `extra`, and checks."""
    pid = os.fork()
    if not pid:
        for number in sorted(int(link.name) for link in list(Path("/proc/self/fd").iterdir())):
            if number > 2 and number not in {control, extra}:
                try:
                    os.close(number)
                except OSError:
                    continue
        try:
            os._exit(0 if template_main.opened_files(control) == ([] if extra is None else [extra]) else 1)
        except OSError:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_template_process_may_have_a_file_open_for_reading_and_nothing_else() -> None:
    control, other = socket.socketpair()
    with control, other, Path(__file__).open("rb") as read, Path(os.devnull).open("r+b", buffering=0) as device:
        assert checked(None, control.fileno()) == 0
        assert checked(read.fileno(), control.fileno()) == 0
        assert checked(other.fileno(), control.fileno()) == 2
        assert checked(device.fileno(), control.fileno()) == 2


def test_a_file_that_was_opened_again_has_a_position_of_its_own() -> None:
    with Path(__file__).open("rb", buffering=0) as file:
        copy = os.dup(file.fileno())
        template_main.renew([copy])
        assert file.read(3)
        assert os.lseek(copy, 0, os.SEEK_CUR) == 0
        os.close(copy)


def test_a_fork_that_the_kernel_refuses_costs_only_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(os, "fork", refused)
    supervisor, control = socket.socketpair()
    with supervisor, control:
        trees = [socket.socketpair() for _ in range(2)]
        for own, given in trees:
            Channel(supervisor.fileno()).send(protocol.FORK, {})
            socket.send_fds(supervisor, [b"."], [given.fileno(), given.fileno()])
            given.close()
            own.setblocking(False)
        supervisor.shutdown(socket.SHUT_WR)
        with pytest.raises(protocol.Closed):
            template_main.fork_trees(control, {"sandboxed": True})
        for own, _ in trees:
            with own:
                assert own.recv(1) == b""  # the grader notices that the tree does not start


def test_a_template_process_has_only_one_thread() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    with pytest.raises(OSError, match="thread"):
        confine.check_threads()
    ended.set()
    thread.join()


SYSTEM = "7f0000000000-7f0000001000 r--s 00000000 fe:00 33     /usr/lib/gconv/gconv-modules.cache"
PRIVATE = "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n7f0000002000-7f0000003000 r-xp 00000000 fe:00 7 /tmp/a b"


def test_only_private_memory_and_read_only_files_of_the_system_or_of_kept_folders_are_allowed() -> None:
    kept, start = "7f0000000000-7f0000001000 r--s 00000000 00:01 12     /tmp/a b/lib", "7f0000000000-7f0000001000"
    for maps in ("", PRIVATE, f"{PRIVATE}\n{SYSTEM}", f"{SYSTEM}\n{kept}"):
        template_main.check_nothing_shared(maps, ["/tmp/a b"])  # noqa: S108
    for line in (
        kept.replace("/a b", "/a"),
        kept.replace("/lib", "/../lib").replace("/a b", "/a bc"),
        f"{start} rw-s 00000000 00:01 12     /dev/zero (deleted)",
        f"{start} r--s 00000000 00:01 12     /dev/zero (deleted)",
        f"{start} rw-s 00000000 00:01 12     /usr/lib/a",
        f"{start} r--s 00000000 00:01 12     /dev/shm/a",
        f"{start} r--s 00000000 00:01 12     /memfd:a (deleted)",
        f"{start} rw-s 00000000 00:00 0 ",
    ):
        with pytest.raises(OSError, match="shared memory"):
            template_main.check_nothing_shared(f"{PRIVATE}\n{line}\n{SYSTEM}", ["/tmp/a b"])  # noqa: S108


def test_a_process_that_has_kept_a_privilege_is_refused() -> None:
    none = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0000000000000000")
    template_main.check_dropped({**none, "NoNewPrivs": "1"})
    for kept in (*({name: "0000000000000001", "NoNewPrivs": "1"} for name in none), {"NoNewPrivs": "0"}):
        with pytest.raises(OSError, match="has kept privileges"):
            template_main.check_dropped(none | kept)
