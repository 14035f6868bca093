import threading
import time
from functools import partial

import pytest
import torch

from harness.devices import Cpu, Cuda, Device, SimulatedStream, pick_device, pick_stream
from harness.errors import MachineError, UsageError


def test_a_launch_on_the_cpu_returns_when_the_work_is_done() -> None:
    done: list[str] = []
    device = Cpu()
    device.launch(lambda: done.append("work"))
    assert done == ["work"]


def test_a_launch_on_a_stream_returns_before_its_work_is_done() -> None:
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait()
        done.set()

    with SimulatedStream() as stream:
        stream.launch(work)
        assert not done.is_set()
        go.set()
        stream.synchronize()
        assert done.is_set()


def test_a_stream_works_in_order_on_one_thread_of_its_own() -> None:
    order: list[tuple[int, int]] = []

    def note(number: int) -> None:
        order.append((number, threading.get_ident()))

    with SimulatedStream() as stream:
        for number in range(100):
            stream.launch(partial(note, number))
    assert [number for number, _ in order] == list(range(100))
    assert len({thread for _, thread in order} - {threading.get_ident()}) == 1


def test_an_error_in_launched_work_surfaces_where_one_synchronizes() -> None:
    ran: list[str] = []
    with SimulatedStream() as stream:
        stream.launch(lambda: 1 / 0)
        stream.launch(lambda: ran.append("after the failure"))
        with pytest.raises(ZeroDivisionError):
            stream.synchronize()
        assert ran == []
        stream.launch(lambda: ran.append("after the report"))
    assert ran == ["after the report"]


def test_even_work_that_exits_does_not_kill_the_stream() -> None:
    def leave() -> None:
        raise SystemExit(3)

    with SimulatedStream() as stream:
        stream.launch(leave)
        with pytest.raises(SystemExit):
            stream.synchronize()
        stream.synchronize()


def test_leaving_the_block_reports_a_failure_and_ends_the_thread() -> None:
    stream = SimulatedStream()
    with pytest.raises(ZeroDivisionError), stream:
        stream.launch(lambda: 1 / 0)
    assert not stream._thread.is_alive()
    stream.close()


def test_a_closed_stream_takes_no_more_work() -> None:
    stream = SimulatedStream()
    stream.close()
    with pytest.raises(UsageError, match="closed"):
        stream.launch(lambda: None)


def test_work_that_waits_for_its_own_stream_is_refused_instead_of_hanging() -> None:
    with SimulatedStream() as stream:
        stream.launch(stream.synchronize)
        with pytest.raises(UsageError, match="cannot wait for its own stream"):
            stream.synchronize()


@pytest.mark.skipif(torch.cuda.is_available(), reason="shows what a machine without a GPU does")
def test_without_a_gpu_one_gets_the_cpu_a_simulated_stream_and_a_clear_refusal() -> None:
    assert isinstance(pick_device(), Cpu)
    with pick_stream() as stream:
        assert isinstance(stream, SimulatedStream)
    with pytest.raises(MachineError, match="no CUDA device 0"):
        Cuda()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_is_done_when_it_is_synchronized() -> None:
    with Cuda() as device:
        x = torch.ones(2048, 2048, device="cuda")
        finished = torch.cuda.Event()  # type: ignore[no-untyped-call]

        def work() -> None:
            for _ in range(50):
                x @ x
            finished.record()

        device.launch(work)
        device.synchronize()
        assert finished.query()  # type: ignore[no-untyped-call]
    with pytest.raises(MachineError):
        Cuda(torch.cuda.device_count())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_events_of_a_gpu_time_what_lies_between_them_and_a_flush_runs_there() -> None:
    with Cuda() as device:
        x = torch.ones(2048, 2048, device="cuda")
        device.launch(device.flush())
        device.synchronize()
        start = device.record()
        device.launch(lambda: [x @ x for _ in range(50)])
        end = device.record()
        with pytest.raises(UsageError, match="after synchronize"):
            end.seconds_since(start)
        device.synchronize()
        assert end.seconds_since(start) > 0


def test_events_tell_the_devices_time_and_not_the_hosts() -> None:
    go = threading.Event()
    with SimulatedStream() as stream:
        stream.launch(go.wait)
        start = stream.record()
        stream.launch(lambda: time.sleep(0.05))
        end = stream.record()
        with pytest.raises(UsageError, match="after synchronize"):
            end.seconds_since(start)
        launched_s = time.perf_counter()
        go.set()
        stream.synchronize()
        assert 0.05 <= end.seconds_since(start) <= time.perf_counter() - launched_s
        assert start.seconds_since(end) == -end.seconds_since(start)


def test_an_event_behind_a_failure_never_happens() -> None:
    with SimulatedStream() as stream:
        before = stream.record()
        stream.launch(lambda: 1 / 0)
        after = stream.record()
        with pytest.raises(ZeroDivisionError):
            stream.synchronize()
        with pytest.raises(UsageError, match="pairs of one device"):
            after.seconds_since(before)


def test_events_on_the_cpu_happen_at_once() -> None:
    device = Cpu()
    start, end = device.record(), device.record()
    assert end.seconds_since(start) >= 0


def test_torch_works_on_one_thread_of_a_stream_and_on_as_many_as_before_elsewhere() -> None:
    threads = torch.get_num_threads()
    seen: list[int] = []
    with SimulatedStream() as stream:
        stream.launch(lambda: seen.append(torch.get_num_threads()))
        stream.synchronize()
        assert torch.get_num_threads() == threads
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [1, threads]


@pytest.mark.parametrize("device", [Cpu(), SimulatedStream()], ids=["cpu", "stream"])
def test_a_flush_is_work_like_any_other(device: Device) -> None:
    with device:
        device.launch(device.flush())
        device.synchronize()


def test_every_device_keeps_the_protocol() -> None:
    devices: list[Device] = [Cpu(), SimulatedStream()]
    for device in devices:
        with device as entered:
            assert entered.name == device.name
