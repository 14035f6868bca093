"""Try to use the ports of a run's Dask cluster without the run's key: `python stranger.py PORT…`.

It prints, as JSON, what each port returned: the id of a process that ran its code, a web page, or nothing.
"""

import asyncio
import contextlib
import json
import logging
import os
import ssl
import sys
import urllib.request
from collections.abc import Awaitable

from distributed import Security
from distributed.core import rpc
from distributed.protocol.pickle import dumps

PATIENCE_S = 3.0
RUN_OF = ("run", "run_function")
"""The requests that make a Dask process run a function: one for workers and nannies, one for schedulers."""
PAGES = ("/", "/health", "/metrics", "/json/identity.json", "/info/main/workers.html", "/info/main/logs.html")


async def runs_code(address: str, security: Security, request: str) -> str | None:
    peer = rpc(address, connection_args=security.get_connection_args("client"), timeout=PATIENCE_S)
    answer: object = None
    with contextlib.suppress(Exception):
        answer = await asyncio.wait_for(getattr(peer, request)(function=dumps(os.getpid)), PATIENCE_S)
    await peer.close_rpc()
    if isinstance(answer, dict) and answer.get("status") == "OK":
        return f"{address} runs code in process {answer['result']}"
    return None


def answers(url: str) -> str | None:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(Exception), urllib.request.urlopen(url, timeout=PATIENCE_S, context=trusting) as page:  # noqa: S310 - http(s)
        return f"{url} answers {page.status}"
    return None


async def main(ports: list[int]) -> list[str]:
    plain, own = Security(), Security.temporary()
    tried: list[Awaitable[str | None]] = []
    for port in ports:
        for protocol, security in (("tcp", plain), ("tls", own)):
            tried += [runs_code(f"{protocol}://127.0.0.1:{port}", security, request) for request in RUN_OF]
        for protocol in ("http", "https"):
            tried += [asyncio.to_thread(answers, f"{protocol}://127.0.0.1:{port}{page}") for page in PAGES]
    return [one for one in await asyncio.gather(*tried) if one]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    print(json.dumps(asyncio.run(main([int(port) for port in sys.argv[1:]]))))
