"""TorchScript's deprecation warnings, hidden here and nowhere else.

torch 2.13 says of `torch.jit.script` and `torch.jit.trace` that they are deprecated, and that `torch.compile` and
`torch.export` take their place. The lesson on compilers shows them as history, and says so. torch's own compiler still
uses them while it is imported, so that importing it warns as well.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from torch.jit import TracerWarning  # type: ignore[attr-defined]  # documented, and not in its __all__


@contextmanager
def deprecated() -> Iterator[None]:
    """Let what runs within use TorchScript without being told that it is deprecated, or that a trace may not hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        warnings.filterwarnings("ignore", r"`torch\.jit\.", DeprecationWarning)
        yield
