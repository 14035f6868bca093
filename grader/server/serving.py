"""Start the server of a course: reserve a core for it, start the grading process beside it, and serve until Ctrl-C."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from errno import EADDRINUSE
from pathlib import Path
from typing import Final

import uvicorn

from grader.class_run import database
from grader.errors import FairclockError, MachineError
from grader.isolation import sandbox
from grader.server import intake
from grader.server.app import build
from grader.server.clock import ServerClock
from grader.server.connections import ClientConnection, most_connections
from grader.server.course_folder import CourseFolder
from grader.server.readers import Readers
from grader.server.requests import Service
from harness.machine.lanes import core_without_measurements, physical_cores

PRIORITY: Final = -5  # the server answers before the programs that grade get its core
_LOOK_S: Final = 2.0  # between two looks at the files of the course
_AGAIN_S: Final = 2.0  # before a grading process that ended is started again


def serve(path: Path, *, host: str, port: int, url: str, jobs: int, scheduler: str, say: Callable[[str], None]) -> None:
    """Serve the course in the folder `path` until Ctrl-C.

    `url` is the address that browsers use. `jobs` is the number of hand-ins that are graded at the same time, on this
    machine or on the Dask cluster at the address `scheduler`. `say` is called with each line that the person at the
    terminal reads. Raise `MachineError` without a sandbox, and `UsageError` for a wrong course.
    """
    sandbox.require("")
    course = CourseFolder(path)
    course.prepare()
    with ExitStack() as stack:
        stack.enter_context(database.lock(course.path))  # against a second server
        stack.enter_context(database.lock(course.grades, shared=True))
        every_core, usual = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
        stack.callback(os.setpriority, os.PRIO_PROCESS, 0, usual)
        stack.callback(os.sched_setaffinity, 0, every_core)
        if physical_cores() > 1:  # no measurement ever uses the core of the server
            os.sched_setaffinity(0, {stack.enter_context(core_without_measurements())})
        else:
            say("This machine has one core, so the server disturbs the measurements. Use a machine with more cores.")
        with suppress(PermissionError):  # only root may; a service of systemd can have `Nice=-5`
            os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
        listening = stack.enter_context(_listening(host, port))
        with course.opened() as opened:
            clock = ServerClock.after(intake.last_arrival(opened.db))
        readers = Readers(course)
        stack.callback(readers.close)
        service = Service(course, clock, url, jobs, readers, clock.problem)
        if clock.problem:
            say(clock.problem)
        stack.enter_context(_grading(course, every_core, jobs, scheduler))
        readers.start()
        stack.enter_context(_files_watched(service, say))
        say(f"Serving {course.path.resolve().name} at {service.url}. Press Ctrl-C to stop.")
        app = build(service)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level=logging.WARNING,
            access_log=False,
            http=ClientConnection,
            ws="none",
            proxy_headers=False,
            limit_concurrency=most_connections(),
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises the signal again at its end
        server = uvicorn.Server(config)
        app.state.live.is_ending = lambda: server.should_exit
        with suppress(KeyboardInterrupt):
            server.run([listening])


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections. Raise `MachineError` if another program uses the port."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        again = f" Another program uses this port. Try --port {port % 65535 + 1}." if error.errno == EADDRINUSE else ""
        why = error.strerror or error
        raise MachineError(f"The server cannot use port {port} of {host} ({why}).{again}") from None


@contextmanager
def _files_watched(service: Service, say: Callable[[str], None]) -> Iterator[None]:
    """Let changes of the course file and the roster hold soon, during the `with` block.

    If a file is wrong, the rules before stay, and staff and the terminal get the reason.
    """
    course, ended = service.course, threading.Event()
    files = (course.course_file, course.roster_file)

    def state() -> list[tuple[int, int] | None]:
        return [(file.stat().st_mtime_ns, file.stat().st_size) if file.is_file() else None for file in files]

    def watch() -> None:
        seen = state()
        while not ended.wait(_LOOK_S):
            with suppress(OSError):
                if (now := state()) == seen:
                    continue
                seen = now
                try:
                    with course.opened() as opened:
                        course.refresh(opened)
                    service.problem = ""
                except FairclockError as error:
                    service.problem = f"The rules of the course are those before the last change of its files. {error}"
                    say(service.problem)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


@contextmanager
def _grading(course: CourseFolder, cores: set[int], jobs: int, scheduler: str) -> Iterator[None]:
    """Keep a grading process running during the `with` block. It may use all `cores`."""
    command = [sys.executable, "-m", "grader.server.grading_process", os.fspath(course.path), "--jobs", str(jobs)]
    command += ["--scheduler", scheduler] if scheduler else []
    ended = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def keep_running() -> None:
        while not ended.is_set():
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr)
            os.sched_setaffinity(process.pid, cores)
            os.setpriority(os.PRIO_PROCESS, process.pid, 0)
            running[:] = [process]
            process.wait()
            ended.wait(_AGAIN_S)

    thread = threading.Thread(target=keep_running, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        for process in running:
            assert process.stdin
            with suppress(OSError):
                process.stdin.close()  # the process ends its lanes, then itself
        thread.join(timeout=10)
