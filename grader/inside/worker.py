"""The only file that runs a submission. It is trusted until it has loaded one, and never believed afterwards.

Started by the supervisor as `python -m grader.inside.worker CONTROL CONFIG`, with an inherited socket and a JSON text,
it is a fork server at first: it imports what takes long and then forks a worker for each use, with a channel, inputs
and outputs of its own. A worker confines itself for good, then serves requests. Whatever it answers is a claim: the
supervisor reads the clock, the output's bytes and the process table itself.

It runs inside the sandbox, beside what it imports of this kit alone: standard library and, for tensors, torch.
"""

import contextlib
import gc
import importlib
import json
import mmap
import os
import resource
import socket
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

from grader.inside import confine, loading, protocol
from grader.inside.protocol import Channel

OUTPUT = sys.stdout
"""As it was before a submission could replace it."""

DONE = protocol.frame(protocol.DONE)

PARTING_S = 2.0
"""How long a worker that hung up may take to end by itself."""


class Service:
    """Serves one supervisor: holds the loaded module and the tensors laid out for timed calls."""

    def __init__(self, descriptors: Sequence[int], torch: types.ModuleType | None, folder: str) -> None:
        channel, inputs, outputs = descriptors
        self.channel = Channel(channel)
        self.folder = folder
        self.file = ""
        self.module = types.ModuleType("submission")
        self.step: Callable[[], str | None] = _nothing
        self.timed: Callable[[], str | None] = _nothing
        self.null: Callable[[], str | None] = _nothing
        if torch:
            self.inputs = mmap.mmap(inputs, 0)
            self.outputs = mmap.mmap(outputs, 0)
            self.torch: Any = torch

    def load(self, body: dict[str, Any]) -> dict[str, Any]:
        """Execute a source text as a fresh module."""
        self.module, self.file = loading.prepared(body["source"], self.folder)
        loading.execute(body["source"], self.module)
        return {}

    def call_tensors(self, body: dict[str, Any]) -> dict[str, Any]:
        """Call once; leave the answer's elements in the output memory and say their dtype and shape."""
        answer = self._function(body)(*(self._tensor(layout) for layout in body["inputs"]))
        if type(answer) is not self.torch.Tensor:
            return {"type": type(answer).__name__}
        if answer.layout is not self.torch.strided or answer.is_meta:
            return {"type": f"{'meta' if answer.is_meta else answer.layout} tensor"}
        said: dict[str, Any] = {"dtype": str(answer.dtype).removeprefix("torch."), "shape": list(answer.shape)}
        size = answer.numel() * answer.element_size()
        if 0 < size <= len(self.outputs):
            flat = self.torch.frombuffer(self.outputs, dtype=answer.dtype, count=answer.numel())
            flat.copy_(answer.detach().reshape(-1))
        return said

    def arrange(self, body: dict[str, Any]) -> dict[str, Any]:
        """Prepare timed calls: same tensors, same output place, contents that the supervisor changes between calls."""
        function = self._function(body)
        tensors = [self._tensor(layout) for layout in body["inputs"]]
        dtype, shape = getattr(self.torch, body["dtype"]), self.torch.Size(body["shape"])
        place = self.torch.frombuffer(self.outputs, dtype=dtype, count=shape.numel()).view(shape)
        tensor_type = self.torch.Tensor

        def step() -> str | None:
            answer = function(*tensors)
            if type(answer) is not tensor_type or answer.dtype != dtype or answer.shape != shape:
                return f"{type(answer).__name__} of another dtype or shape"
            place.copy_(answer)
            return None

        nothing = self.torch.zeros(shape, dtype=dtype)

        def null() -> None:
            place.copy_(nothing)

        self.step = self.timed = step
        self.null = null
        gc.collect()
        gc.freeze()
        return {}

    def slow(self, body: dict[str, Any]) -> dict[str, Any]:
        """Burn CPU time in each timed call from now on. Asked of trusted workers alone."""
        extra_s, step, clock = body["extra_s"], self.step, time.thread_time

        def slowed() -> str | None:
            problem = step()
            end_s = clock() + extra_s
            while clock() < end_s:
                pass
            return problem

        self.timed = slowed if extra_s else step
        return {}

    def go(self, step: Callable[[], str | None], again: bytes) -> bytes:
        """Serve timed calls while the frame `again` asks for one more; return the bytes that came in its place.

        There are as few steps around a call as can be. Calls of nothing are served here too, and their price is taken
        off (`trials.turns.net`), so a submission that serves itself gains no more than it can leave out of this loop.
        """
        send, receive, descriptor = os.write, os.read, self.channel.descriptor
        while True:
            problem = step()
            if problem is not None:
                self.channel.send(protocol.DONE, {"problem": problem})
                return b""
            send(descriptor, DONE)
            asked = receive(descriptor, len(again))
            if not asked:
                raise protocol.Closed
            if asked != again:
                return asked

    def call_values(self, body: dict[str, Any]) -> dict[str, Any]:
        """Call with plain values and metered functions; the answer must be plain again."""
        arguments = [self._metered(a["metered"]) if "metered" in a else a["value"] for a in body["arguments"]]
        answer = self._function(body)(*arguments)
        try:
            return {"answer": plain(answer)}
        except (TypeError, RecursionError):
            return {"type": type(answer).__name__}

    def _function(self, body: dict[str, Any]) -> Callable[..., Any]:
        function = getattr(self.module, body["function"], None)
        if not callable(function):
            raise loading.MissingError(body["function"])
        return function  # type: ignore[no-any-return]  # a submission gives what it likes

    def _metered(self, name: str) -> Callable[..., Any]:
        def metered(*arguments: Any) -> Any:
            try:
                values = [plain(argument) for argument in arguments]
            except TypeError as error:
                raise TypeError(f"{name}() takes plain numbers here: {error}") from None
            self.channel.send(protocol.METERED, {"name": name, "arguments": values})
            kind, body = self.channel.receive()
            if kind != protocol.ANSWER:
                raise protocol.ProtocolError(f"expected an answer, got {kind!r}")
            if "error" in body:
                raise ValueError(body["error"])
            return body["value"]

        metered.__name__ = metered.__qualname__ = name
        return metered

    def _tensor(self, layout: dict[str, Any]) -> Any:
        dtype = getattr(self.torch, layout["dtype"])
        if 0 in layout["shape"]:
            return self.torch.empty_strided(layout["shape"], layout["strides"], dtype=dtype)
        whole = self.torch.frombuffer(self.inputs, dtype=dtype, count=layout["count"], offset=layout["at"])
        return whole.as_strided(layout["shape"], layout["strides"], layout["offset"])


def plain(value: Any) -> Any:
    """Turn numbers (NumPy's and torch's too), texts, lists and mappings into JSON's; TypeError for all else."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"not a plain value: {type(value).__name__}")


def serve(service: Service) -> None:
    """Answer requests until the supervisor hangs up."""
    channel = service.channel
    requests = {
        protocol.LOAD: service.load,
        protocol.TENSORS: service.call_tensors,
        protocol.ARRANGE: service.arrange,
        protocol.SLOW: service.slow,
        protocol.VALUES: service.call_values,
    }
    channel.send(protocol.HELLO)
    kind, body = channel.receive()
    while True:
        began = b""
        try:
            if kind == protocol.GO:
                began = service.go(service.timed, protocol.frame(kind))
            elif kind == protocol.NULL:
                began = service.go(service.null, protocol.frame(kind))
            else:
                answer = requests[kind](body)
                OUTPUT.flush()  # what was printed is shown, and the process may be killed any time
                channel.send(protocol.DONE, answer)
        except protocol.Closed:
            raise
        except BaseException as error:  # noqa: BLE001 - a submission may raise anything, SystemExit too
            kind, body = tell(channel, error, service.file)
        else:
            kind, body = channel.receive(began=began)


def tell(channel: Channel, error: BaseException, file: str) -> tuple[bytes, dict[str, Any]]:
    """Tell of an exception and wait for the next request, with some memory to do it even if there is none left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    with contextlib.suppress(Exception):  # what it printed before that is shown as well
        OUTPUT.flush()
    channel.send(protocol.RAISED, loading.raised(error, file))
    request = channel.receive()
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return request


def _nothing() -> None:
    raise RuntimeError("no timed call was arranged")


def attend(control: socket.socket) -> tuple[list[int], dict[str, Any]]:
    """Fork a worker for each request, until the supervisor hangs up; in a worker, return what it was given."""
    channel = Channel(control.fileno())
    channel.send(protocol.HELLO)
    while True:
        kind, body = channel.receive()
        if kind == protocol.REAP:
            channel.send(protocol.DONE, {"status": reap(body["pid"])})
            continue
        _, descriptors, _, _ = socket.recv_fds(control, 1, 3)
        pid = os.fork()
        if not pid:
            control.close()
            return descriptors, body
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(protocol.DONE, {"pid": pid})


def reap(pid: int) -> int | None:
    """Wait a moment for a worker to end: its exit status, negative for a signal, or None when it does not."""
    deadline_s = time.monotonic() + PARTING_S
    while time.monotonic() < deadline_s:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def main() -> None:
    """Warm up, wait to be forked, and as a worker limit oneself and serve."""
    control, config = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    sys.argv = ["submission"]
    if Channel(control.fileno()).spoken():
        os._exit(0)  # whoever started this is gone: nothing is said before a hello
    gc.disable()  # an import makes much and drops little
    torch = importlib.import_module("torch") if config["tensors"] else None  # a second, and most exercises need none
    gc.freeze()  # so that a collection in a worker leaves these pages shared; one here would take a tenth of the start
    gc.enable()
    try:
        descriptors, given = attend(control)
        service = Service(descriptors, torch, os.environ["HOME"])  # its shared memory may be the last it can have
        confine.narrow()
        if given["filter"]:
            confine.install(given["filter"])  # no thread may run yet
        if given["returns_memory"]:
            confine.return_memory()
        if torch:
            torch.set_num_threads(given["threads"])
            torch.set_grad_enabled(mode=False)
        confine.limit(given["limits"])
        serve(service)
    except protocol.Closed:
        os._exit(0)


if __name__ == "__main__":
    main()
