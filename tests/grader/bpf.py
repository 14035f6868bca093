"""Run a classic BPF program as the kernel runs a seccomp filter, to test what a compiled filter returns."""

import struct
from typing import Final

ALLOWED: Final = 0x7FFF0000
KILLED: Final = 0x80000000


def run(program: bytes, *, audit: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Return the filter's result for one system call. Raise an exception if the kernel would refuse the program."""
    words = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    operand: int
    for _ in code:
        kind, then, otherwise, operand = code[at]
        at += 1
        match kind:
            case 0x20:
                assert operand % 4 == 0
                (accumulator,) = struct.unpack_from("<I", words, operand)
            case 0x06:
                return operand
            case 0x15 | 0x25 | 0x35 | 0x45:
                holds = {
                    0x15: accumulator == operand,
                    0x25: accumulator > operand,
                    0x35: accumulator >= operand,
                    0x45: bool(accumulator & operand),
                }
                at += then if holds[kind] else otherwise
            case _:
                raise AssertionError(f"no such instruction: {kind:#x}")
    raise AssertionError("the program does not end")


def denied(error: int) -> int:
    """Return the result with which a filter makes a call fail with this error."""
    return 0x00050000 | error
