"""Run the cells of a notebook in one namespace, as IPython does, but without magics and shell commands.

This file runs in the sandbox and imports only the standard library.
"""

import __future__

import ast
import sys
import types
from collections.abc import Iterator
from typing import Any

FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
COROUTINE = 0x80  # the flag inspect.CO_COROUTINE; the module is slow to import
MOST_SKIPPED = 100
SILENT = ("pinfo", "pinfo2", "psearch", "check", "hint", "submit")
"""The magics that are skipped without a remark: those of a help request, such as `sum?`, and those of the kit."""


class NotebookShell:
    """Runs cells in a module, where `get_ipython()` returns it. `skipped` lists the commands that were not run."""

    def __init__(self, module: types.ModuleType) -> None:
        self.user_ns, self.file = module.__dict__, str(getattr(module, "__file__", ""))
        self.skipped: list[str] = []
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._loop: Any = None
        self._inputs, self._values = [""], dict[int, Any]()
        self._last: list[Any] = ["", "", ""]
        self.user_ns.update(In=self._inputs, Out=self._values, _="", __="", ___="")
        self.user_ns.update(display=lambda *_, **__: None, exit=sys.exit, quit=sys.exit)

    def run_cell(self, text: str, above: int) -> list[str]:
        """Run a cell that is below `above` lines of the file, without catching exceptions, and return `skipped`."""
        self._inputs.append(text)
        value = self._run(text, self.file, above)
        if value is not None and not text.endswith(";") and value is not self._values:
            self._keep(value)
        return self.skipped

    def run_line_magic(self, name: str, line: str, *_: Any) -> Any:
        """Run the statement of `%time`. Skip all other magics."""
        if name == "time":
            local = sys._getframe(1).f_locals  # noqa: SLF001 - the magic may be in a function, which has names of its own
            return self._run(line, "<magic>", local=local)
        return None if name in SILENT else self.system(f"{name} {line}", "%")

    def run_cell_magic(self, name: str, line: str, _cell: str) -> None:
        """Skip a cell, because its magic does not run it in the namespace of the notebook."""
        self.system(f"{name} {line}", "%%")

    def system(self, command: str, mark: str = "!") -> None:
        """Skip a command. Its line in the notebook begins with `mark`."""
        skipped = f"{mark}{command[:100]}".rstrip()
        if len(self.skipped) < MOST_SKIPPED and skipped not in self.skipped:  # the command may be in a loop
            self.skipped.append(skipped)

    def getoutput(self, command: str) -> list[str]:
        """Skip a shell command, and return its output as no lines."""
        self.system(command)
        return []

    def show_usage(self) -> None:
        """Show no introduction to IPython."""

    def _run(self, text: str, file: str, above: int = 0, local: dict[str, Any] | None = None) -> Any:
        """Run the statements of a text one by one. Return the value of the last one if it is an expression.

        The text goes on after the import of a module that is not installed here, because Jupyter had the module.
        """
        value, waits, missing = None, "async" in text or "await" in text, None
        for node, code in self._compiled(text, file, above):
            self.user_ns["get_ipython"] = lambda: self  # each time, because some notebooks import this name
            try:
                value = self._in_loop(code) if waits else eval(code, self.user_ns, local)  # noqa: S307 - it runs submissions
            except ModuleNotFoundError as error:
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    raise
                missing = missing or error
        if missing:
            raise missing
        return value

    def _compiled(self, text: str, file: str, above: int) -> Iterator[tuple[ast.stmt, types.CodeType]]:
        """Yield each statement and its code. The features of `from __future__` hold from then on."""
        try:
            body = compile(text, "<cell>", "exec", self._flags | ast.PyCF_ONLY_AST, dont_inherit=True).body
        except SyntaxError as error:
            error.lineno = error.lineno and error.lineno + above
            raise
        for node in body:
            ast.increment_lineno(node, above)
            is_value = node is body[-1] and isinstance(node, ast.Expr)
            tree = ast.Expression(node.value) if is_value else ast.Module([node], [])
            code = compile(tree, file, "eval" if is_value else "exec", self._flags, dont_inherit=True)
            self._flags |= code.co_flags & FUTURES
            yield node, code

    def _in_loop(self, code: types.CodeType) -> Any:
        import asyncio  # noqa: PLC0415 - slow to import, and few notebooks need it

        async def run() -> Any:
            value = eval(code, self.user_ns)  # noqa: S307 - as above
            return await value if code.co_flags & COROUTINE else value

        self._loop = self._loop or asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(run())

    def _keep(self, value: Any) -> None:
        """Store a cell's value in `Out`, and as `_` unless the notebook has given this name another value."""
        names, count = ("_", "__", "___"), len(self._inputs) - 1
        unused = all(self.user_ns.get(name, last) is last for name, last in zip(names, self._last, strict=True))
        self._last = [value, *self._last[:2]]
        self.user_ns[f"_{count}"] = self._values[count] = value
        if unused:
            self.user_ns.update(zip(names, self._last, strict=True))
