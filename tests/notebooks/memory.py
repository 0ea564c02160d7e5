"""How much memory a notebook's kernel takes, beside one that has only imported."""

import atexit
import re
from functools import cache

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

# What every kernel with figures and widgets has, and how many times as much memory a
# notebook's may take.
BARE = "import numpy, matplotlib.figure, matplotlib.backends.backend_agg, ipywidgets"
MOST = 1.3


def size_of(kernel: BlockingKernelClient) -> int:
    """Return a kernel's PSS in kB: what it shares is split evenly between sharers.

    Linux only.
    """
    asked = {"memory": "open('/proc/self/smaps_rollup').read()"}
    reply = kernel.execute_interactive("", user_expressions=asked)
    said = reply["content"]["user_expressions"]["memory"]["data"]["text/plain"]
    return int(re.search(r"Pss: +(\d+) kB", said)[1])


@cache
def bare_kernel() -> BlockingKernelClient:
    manager, client = start_new_kernel()
    atexit.register(manager.shutdown_kernel, now=True)
    assert client.execute_interactive(BARE)["content"]["status"] == "ok"
    return client


class Memory(pytest.Item):
    """After nbval's cells: their kernel takes little more than the bare one beside."""

    def runtest(self) -> None:
        taken, bare = size_of(self.parent.kernel.kc), size_of(bare_kernel())
        assert taken < MOST * bare, f"{taken / bare:.2f} times a bare kernel's memory"

    def reportinfo(self):
        return self.path, None, f"{self.path.name}::memory"
