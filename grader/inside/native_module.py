"""A C function as the module of a submission: this text is loaded in a worker, followed by the library's bytes.

The function takes the bytes of a tensor and gives a whole number of 32 bits. Its price on top of the C is the way into
it: a call through ctypes, and a tensor of four bytes.
"""

import base64
import ctypes
import tempfile
from collections.abc import Callable

import torch

NOTHING = ctypes.create_string_buffer(8)
"""Where an empty tensor's bytes are said to be: torch says nowhere, and C may not even look there."""


def bound(name: str, library: str) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """The function of that name in a library, given in base64; None where it has none.

    In C it is `uint32_t name(const uint8_t *data, size_t size)`.
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
