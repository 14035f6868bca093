"""Fork workers: processes that run a submission's code for the grader's own process, the supervisor.

The supervisor starts `python -m grader.inside.worker_main CONTROL CONFIG`. CONTROL is the number of an inherited
socket, and CONFIG is a JSON text. The process imports torch if needed, and forks a worker on each request. Each worker
has its own channel, inputs and outputs. It permanently restricts its own rights, and then serves requests. After a
worker has loaded a submission, the supervisor does not trust its messages. The supervisor itself reads the clock, the
bytes of the answer and the list of processes. This file runs inside the sandbox. It imports the standard library, other
files of `grader/inside`, and torch.
"""

import contextlib
import gc
import importlib
import json
import marshal
import mmap
import os
import resource
import socket
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

from grader.inside import confine, ending, loading, notebook_shell, protocol

OUTPUT = sys.stdout  # stored because a submission may replace `sys.stdout`
DONE = protocol.frame(protocol.DONE)

Step = Callable[[], str | None]  # a timed call, which returns what is wrong with the answer, or None


class Worker:
    """The state of a worker, a process that runs a submission: its channel to the grader, and the loaded module."""

    def __init__(self, descriptors: Sequence[int], torch: types.ModuleType | None, folder: str) -> None:
        channel, inputs, outputs = descriptors
        self.channel = protocol.Channel(channel)
        self.folder, self.file = folder, ""
        self.module = types.ModuleType("submission")
        self.shell = notebook_shell.NotebookShell(self.module)
        self.step: Step = _no_op
        self.timed: Step = _no_op
        self.inputs, self.outputs = mmap.mmap(inputs, 0), mmap.mmap(outputs, 0)
        self.torch: Any = torch

    def load(self, body: dict[str, Any]) -> dict[str, Any]:
        """Execute the source text in a request as a new module, or a cell of the notebook whose text came before."""
        if "cell" in body:
            return {"skipped": self.shell.run_cell(*body["cell"])}
        self.module, self.file = loading.new_module(body["source"], self.folder)
        if body["notebook"]:
            self.shell = notebook_shell.NotebookShell(self.module)
        else:
            loading.execute(body["source"], self.module)
        return {}

    def call_tensors(self, body: dict[str, Any]) -> dict[str, Any]:
        """Call the submission's function once, copy its answer to shared memory, and return its dtype and shape."""
        answer = self._function(body)(*(self._tensor(layout) for layout in body["inputs"]))
        if type(answer) in (self.torch.Tensor, self.torch.nn.Parameter):
            answer = self.torch.Tensor.detach(answer)  # not the tensor's own attribute of this name
        if type(answer) is not self.torch.Tensor:
            return {"type": loading.type_name(answer)}
        if answer.layout is not self.torch.strided or answer.is_meta:
            return {"type": f"{'meta' if answer.is_meta else answer.layout} tensor"}
        said: dict[str, Any] = {"dtype": str(answer.dtype).removeprefix("torch."), "shape": list(answer.shape)}
        size = answer.numel() * answer.element_size()
        if 0 < size <= len(self.outputs):
            flat = self.torch.frombuffer(self.outputs, dtype=answer.dtype, count=answer.numel())
            flat.copy_(answer.reshape(-1))
        return said

    def arrange(self, body: dict[str, Any]) -> dict[str, Any]:
        """Prepare timed calls, which all use the same input tensors and the same memory for the answer."""
        function, tensors = self._function(body), [self._tensor(layout) for layout in body["inputs"]]
        dtype, shape = getattr(self.torch, body["dtype"]), self.torch.Size(body["shape"])
        place = self.torch.frombuffer(self.outputs, dtype=dtype, count=shape.numel()).view(shape)
        tensor_type, parameter_type = self.torch.Tensor, self.torch.nn.Parameter

        def step() -> str | None:
            answer = function(*tensors)
            if type(answer) is tensor_type or type(answer) is parameter_type:
                answer = tensor_type.detach(answer)  # a copy with gradients would keep each earlier answer
            if type(answer) is not tensor_type or answer.dtype != dtype or answer.shape != shape:
                return f"{loading.type_name(answer)} of another dtype or shape"
            place.copy_(answer)
            return None

        self._arranged(step)
        return {}

    def arrange_values(self, body: dict[str, Any]) -> dict[str, Any]:
        """Prepare timed calls with plain values. Their inputs are in shared memory, in Python's marshal format.

        One request makes all calls of an input: it decodes the arguments, and writes the answers as JSON, after the
        number of its bytes. All of this is timed. No garbage is collected, because a submission could switch it off.
        """
        function = self._function(body)
        inputs, outputs, decode, encode = self.inputs, self.outputs, marshal.loads, json.dumps

        def step() -> None:
            answers = [function(*arguments) for arguments in decode(inputs)]
            try:
                text = encode(answers, default=protocol.plain).encode()
            except TypeError:  # only `plain` converts keys of dictionaries such as tuples
                text = encode(protocol.plain(answers)).encode()
            outputs[: protocol.LENGTH_BYTES + len(text)] = len(text).to_bytes(protocol.LENGTH_BYTES, "little") + text

        self._arranged(step)
        gc.disable()
        return {}

    def slow(self, body: dict[str, Any]) -> dict[str, Any]:
        """Spend `extra_s` more CPU seconds in each later timed call. Submissions are never slowed."""
        extra_s, step, clock = body["extra_s"], self.step, time.thread_time

        def slowed() -> str | None:
            problem = step()
            end_s = clock() + extra_s
            while clock() < end_s:
                pass
            return problem

        self.timed = slowed if extra_s else step
        return {}

    def go(self) -> bytes:
        """Make a timed call, and another one after each further request `GO`.

        Return the first bytes of the first different request. This short loop, and the copy of the answer, belong to
        the cost of a call. A submission that replaces the loop, or computes into the memory for the answer, gains at
        most the cost of the steps that it leaves out.
        """
        step, again = self.timed, protocol.frame(protocol.GO)
        send, receive, descriptor = os.write, os.read, self.channel.descriptor
        while True:
            if (problem := step()) is not None:
                self.channel.send(protocol.DONE, {"problem": problem})
                return b""
            send(descriptor, DONE)
            asked = receive(descriptor, len(again))
            if not asked:
                raise protocol.Closed
            if asked != again:
                return asked

    def call_values(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the function's answer to plain values and to functions that the grader simulates."""
        arguments = [self._simulated(a["simulated"]) if "simulated" in a else a["value"] for a in body["arguments"]]
        answer = self._function(body)(*arguments)
        try:
            return {"answer": protocol.plain(answer)}
        except (TypeError, RecursionError) as error:
            inside = str(error) if isinstance(error, TypeError) else "list in itself"
            return {"type": loading.type_name(answer), "inside": inside}

    def _arranged(self, step: Step) -> None:
        self.step = self.timed = step
        gc.collect()
        gc.freeze()

    def _function(self, body: dict[str, Any]) -> Callable[..., Any]:
        function = getattr(self.module, body["function"], None)
        if not callable(function):
            raise loading.MissingError(body["function"])
        return function  # type: ignore[no-any-return]  # a submission may define a function of any type

    def _simulated(self, name: str) -> Callable[..., Any]:
        def simulated(*arguments: Any) -> Any:
            try:
                values = [protocol.plain(argument) for argument in arguments]
            except TypeError as error:
                raise TypeError(f"{name}() takes only numbers, texts, lists and dicts, and not a {error}") from None
            self.channel.send(protocol.SIMULATED, {"name": name, "arguments": values})
            kind, body = self.channel.receive()
            if kind != protocol.ANSWER:
                raise protocol.ProtocolError(f"expected an answer, got {kind!r}")
            if "error" in body:
                raise ValueError(body["error"])
            return body["value"]

        simulated.__name__ = simulated.__qualname__ = name
        return simulated

    def _tensor(self, layout: dict[str, Any]) -> Any:
        dtype = getattr(self.torch, layout["dtype"])
        if 0 in layout["shape"]:
            return self.torch.empty_strided(layout["shape"], layout["strides"], dtype=dtype)
        whole = self.torch.frombuffer(self.inputs, dtype=dtype, count=layout["count"], offset=layout["at"])
        return whole.as_strided(layout["shape"], layout["strides"], layout["offset"])


def serve(service: Worker) -> None:
    """Serve requests until the grader closes the channel, which raises `protocol.Closed`."""
    channel = service.channel
    requests = {
        protocol.LOAD: service.load,
        protocol.TENSORS: service.call_tensors,
        protocol.ARRANGE: service.arrange,
        protocol.ARRANGE_VALUES: service.arrange_values,
        protocol.SLOW: service.slow,
        protocol.VALUES: service.call_values,
    }
    channel.send(protocol.HELLO)
    kind, body = channel.receive()
    while True:
        began = b""
        try:
            if kind == protocol.GO:
                began = service.go()
            else:
                answer = requests[kind](body)
                OUTPUT.flush()  # because the process may be killed at any time, and the student should read its output
                channel.send(protocol.DONE, answer)
        except protocol.Closed:
            raise
        except BaseException as error:  # noqa: BLE001 - a submission may raise anything, SystemExit too
            kind, body = report_error(channel, error, service.file)
        else:
            kind, body = channel.receive(began=began)


def report_error(channel: protocol.Channel, error: BaseException, file: str) -> tuple[bytes, dict[str, Any]]:
    """Report an exception to the grader, and return the next request. Meanwhile, more memory is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    with contextlib.suppress(Exception):  # so that the student reads the output from before the exception
        OUTPUT.flush()
    channel.send(protocol.RAISED, loading.error_report(error, file))
    request = channel.receive()
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return request


def _no_op() -> None: ...


def fork_on_request(
    control: socket.socket, count: int, forked: Callable[[int | None], None]
) -> tuple[list[int], dict[str, Any]]:
    """Fork this process for each request until the grader closes the channel, which raises `protocol.Closed`.

    Return only in a fork: its `count` file descriptors and its configuration. This process calls `forked` with the
    fork's process id, or with None if the kernel refuses the fork.
    """
    channel = protocol.Channel(control.fileno())
    while True:
        kind, body = channel.receive()
        if kind == protocol.REAP:
            channel.send(protocol.DONE, {"status": ending.wait_for_end(body["pid"])})
            continue
        _, descriptors, _, _ = socket.recv_fds(control, 1, count)
        pid = None
        with contextlib.suppress(OSError):  # then the grader notices that no process starts, and others go on
            pid = os.fork()
        if pid == 0:
            control.close()
            return descriptors, body
        for descriptor in descriptors:
            os.close(descriptor)
        forked(pid)


def warm_up(*, tensors: bool) -> types.ModuleType | None:
    """Import torch if `tensors`, and return it. Later collections of garbage leave all present objects out."""
    gc.disable()  # saves 10 % of the start time, because an import creates many objects and releases few
    torch = importlib.import_module("torch") if tensors else None  # takes a second; most exercises do not need it
    gc.freeze()  # keeps these pages shared when a worker collects garbage
    gc.enable()
    return torch


def serve_workers(control: socket.socket, torch: types.ModuleType | None, folder: str = "") -> None:
    """Fork a worker process on each request. In a worker, set limits and serve requests. Never return.

    `folder` is the tree's own folder if there is no sandbox. It is removed if the grader has ended.
    """
    workers: list[int] = []

    def forked(pid: int | None) -> None:
        workers.extend([pid] if pid else [])
        channel.send(protocol.DONE, {"pid": pid})

    try:
        channel = protocol.Channel(control.fileno())
        channel.send(protocol.HELLO, {"pid": os.getpid()})
        descriptors, given = fork_on_request(control, 3, forked)
    except protocol.Closed:
        ending.end_tree(workers, folder)
    try:
        service = Worker(descriptors, torch, os.environ["HOME"])  # maps shared memory, which may be forbidden later
        confine.restrict_files(sandboxed=not folder)
        if given["filter"]:
            confine.install_filter(given["filter"])  # before any thread starts
        confine.set_allocator(returns_memory=given["returns_memory"])
        if torch:
            torch.set_num_threads(given["threads"])
            torch.set_grad_enabled(mode=False)
        confine.set_limits(given["limits"])
        serve(service)
    except protocol.Closed:
        os._exit(0)


def main() -> None:
    """Import torch if needed, and fork a worker process on each request."""
    control, config = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    sys.argv = ["submission"]
    if protocol.Channel(control.fileno()).has_message():
        ending.end_tree([], config["folder"])  # the supervisor has closed the socket, on which it sends nothing before
    serve_workers(control, warm_up(tensors=config["tensors"]), config["folder"])


if __name__ == "__main__":
    main()
