"""Make a compiled C function callable as a Python function of a submission.

A line with the library's bytes is added to this text before it is run. The C function takes the bytes of a tensor and
returns a 32-bit integer. The cost of a call includes a call through ctypes and a new tensor of four bytes.
"""

import base64
import ctypes
import tempfile
from collections.abc import Callable

import torch

NOTHING = ctypes.create_string_buffer(8)
"""The memory whose address is passed for an empty tensor.

The address of an empty tensor is a null pointer, which is undefined behaviour in many C functions.
"""


def bound(name: str, library: str) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Return a Python function that calls the C function `name` of a library, or None if the library lacks it.

    `library` holds the library's bytes in base64. The C function is `uint32_t name(const uint8_t *data, size_t size)`.
    """
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(base64.b64decode(library))
        file.flush()
        function = getattr(ctypes.CDLL(file.name), name, None)
    if function is None:
        return None
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t), ctypes.c_uint32
    nowhere = ctypes.addressof(NOTHING)

    def call(data: torch.Tensor) -> torch.Tensor:
        value = function(data.data_ptr() or nowhere, data.numel())
        return torch.frombuffer(bytearray(value.to_bytes(4, "little")), dtype=torch.uint8)

    return call
