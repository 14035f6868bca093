"""The exceptions whose messages users read: one sentence with the problem and what to do next.

Every other exception that a command does not catch is an internal error.
"""


def described(error: BaseException) -> str:
    """Return the kind and the message of any exception as one line of at most 300 characters."""
    try:
        message = str(error).encode(errors="backslashreplace").decode()
    except Exception:  # noqa: BLE001 - a class of the user may fail here
        message = "it has no readable message"
    return " ".join(f"{type(error).__name__}: {message}".split())[:300].removesuffix(":")


class FairclockError(Exception):
    """An error that the user can fix. `str(error)` is the complete message. A command exits with `exit_code`."""

    exit_code = 2


class MachineError(FairclockError):
    """The machine lacks something, such as a program or a device. The message has the command that installs it."""


class UsageError(FairclockError):
    """An argument has an invalid value or names something that does not exist. The message lists what is valid."""
