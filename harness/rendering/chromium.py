"""Control Chromium through a pipe: open pages, click, measure and take screenshots."""

import base64
import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

_FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--remote-debugging-pipe",
)  # fmt: skip


class Page:
    """One open page."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._id, self._buffer = write, read, 0, b""
        self._session = ""
        self.said: list[str] = []
        """The messages on the page's console, and the browser's messages about refused requests."""
        self._answers: dict[str, bytes] = {}
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send one command and return its result. Events that arrive before it are recorded."""
        number = self._send(method, parameters)
        while (got := self._next()).get("id") != number:
            pass
        assert "error" not in got, got
        return got["result"]

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.go(path.as_uri())

    def go(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        self.ask("Page.navigate", url=url)
        self.loaded()

    def answer(self, pattern: str, script: bytes) -> None:
        """Answer later requests for the JavaScript files that match `pattern` with `script`, without the network.

        In the pattern, `*` stands for any text.
        """
        self._answers[pattern] = script
        self.ask("Fetch.enable", patterns=[{"urlPattern": each} for each in self._answers])

    def before_each_page(self, script: str) -> None:
        """Run a script in each page and frame that is opened later, before the scripts of the page."""
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=script)

    def loaded(self) -> None:
        """Wait until a page is loaded."""
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression. A page's security policy cannot prevent this."""
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def click(self, selector: str) -> None:
        """Click on the middle of an element."""
        find = f"const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
        where = "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2];"
        box = self.run(f"(() => {{ {find} {where} }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type into the element that has the focus."""
        self.ask("Input.insertText", text=text)

    def look(self, width: int, *, dark: bool = False, height: int = 800) -> None:
        """Set the page's width, in CSS pixels, and its preference for light or dark colours."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def photograph(self, path: Path) -> None:
        """Write a screenshot of the whole page as a PNG."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        """Send one command, and return the number of the answer to wait for."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        unsent = memoryview(json.dumps(message).encode() + b"\0")
        while unsent:
            unsent = unsent[os.write(self._write, unsent) :]
        return self._id

    def _fulfil(self, request: dict[str, Any]) -> None:
        url = request["request"]["url"]
        script = next(script for pattern, script in self._answers.items() if fnmatchcase(url, pattern))
        body = base64.b64encode(script).decode()
        headers = [{"name": "Content-Type", "value": "text/javascript"}]
        found = {"requestId": request["requestId"], "responseCode": 200, "responseHeaders": headers, "body": body}
        self._send("Fetch.fulfillRequest", found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            got = os.read(self._read, 1 << 16)
            assert got, "Chromium has ended"
            self._buffer += got
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if message.get("method") == "Log.entryAdded":
            self.said.append(message["params"]["entry"]["text"])
        if message.get("method") == "Runtime.consoleAPICalled":
            self.said += [str(one.get("value")) for one in message["params"]["args"]]
        if message.get("method") == "Runtime.exceptionThrown":
            self.said.append(str(message["params"]["exceptionDetails"]))
        if message.get("method") == "Fetch.requestPaused":
            self._fulfil(message["params"])
        return message


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Start Chromium with a new profile, and end it."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    # Descriptors 3 and 4 are the pipe; only a shell can put them there on the way.
    script = f'exec 3<&{their_in} 4>&{their_out}; exec chromium "$@"'
    command = ["bash", "-c", script, "chromium", *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        command, pass_fds=(their_in, their_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(their_in)
    os.close(their_out)
    try:
        page = Page(our_out, our_in)
        yield page
    finally:
        with contextlib.suppress(OSError):
            os.write(our_out, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(our_out)
        os.close(our_in)
