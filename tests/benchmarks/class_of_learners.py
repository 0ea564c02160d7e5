"""A class at once: what a JupyterHub needs for each learner.

    pip install -e '.[class]'
    python tests/benchmarks/class_of_learners.py [learners]

Starts a real JupyterHub on loopback, with its proxy from npm, and twenty learners: each
gets a server and a kernel and runs the code of all six notebooks, all learners at the
same time. As a front end has a kernel for each notebook, the kernel is restarted
before the next; a learner who leaves all six open needs six.

Prints starts a minute, the memory a learner takes, and failures: a cell that raises or
does not say what is stored. Fails if there is one, or if running a notebook has taken
more than 1.3 times the memory of a kernel that has only imported NumPy, matplotlib's
figures and ipywidgets. Linux only.

Memory is PSS, the proportional set size: what several processes share is split evenly
between them. It is read while all learners' kernels are alive.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import psutil
import requests
import websocket
from jupyter_client.session import Session

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "notebooks"))

from memory import BARE, MOST
from stored import NAMES, code_cells, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = secrets.token_hex()
WAIT = 600
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{0}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{1}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{2}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {home!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {wait}
c.JupyterHub.services = [{{"name": "class", "api_token": {token!r}}}]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles = [{{"name": "teach", "scopes": scopes, "services": ["class"]}}]
"""


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


def find_proxy(folder: Path) -> str:
    """Return the path of the hub's proxy, installed with npm if it is not there."""
    name = "configurable-http-proxy"
    if found := shutil.which(name):
        return found
    install = [shutil.which("npm") or "npm", "install", "--silent", "--no-fund"]
    subprocess.run([*install, "--prefix", str(folder), name], check=True)
    return str(folder / "node_modules" / ".bin" / name)


@contextlib.contextmanager
def jupyterhub(folder: Path):
    """Start a hub on loopback; yield its address and its process."""
    ports = free_ports(3)
    config = folder / "config.py"
    home = str(folder / "home" / "{username}")
    proxy = find_proxy(folder)
    text = CONFIG.format(*ports, proxy=proxy, home=home, wait=WAIT, token=TOKEN)
    config.write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "jupyterhub", "-f", str(config)]
    with (folder / "log.txt").open("w") as log:
        out = {"stdout": log, "stderr": log}
        env = os.environ | {"PATH": path}
        hub = subprocess.Popen(command, cwd=folder, env=env, **out)
    started = psutil.Process(hub.pid)
    try:
        address = f"http://127.0.0.1:{ports[0]}"
        wait_until(lambda: hub.poll() is not None or call("GET", f"{address}/hub/api/"))
        if hub.poll() is not None:
            raise RuntimeError("the hub did not start")
        yield address, started
    except BaseException:
        print((folder / "log.txt").read_text(encoding="utf-8")[-5000:])
        raise
    finally:
        own = [started, *started.children(recursive=True)]
        hub.terminate()  # the hub stops its servers and its proxy itself
        _, left = psutil.wait_procs(own, timeout=60)
        for process in left:
            process.kill()


def call(method: str, url: str, **more) -> requests.Response:
    headers = {"Authorization": f"token {TOKEN}"}
    return requests.request(method, url, headers=headers, timeout=WAIT, **more)


def wait_until(done: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        with contextlib.suppress(requests.RequestException, KeyError):
            if done():
                return
        time.sleep(0.5)
    raise TimeoutError(f"waited {WAIT} s in vain")


class Learner:
    """One learner at the hub: a server, and a kernel that runs cells."""

    def __init__(self, address: str, name: str) -> None:
        self.name, self.failures = name, []
        self.user = f"{address}/hub/api/users/{name}"
        self.server = f"{address}/user/{name}"

    def start(self) -> None:
        """Start the server and a kernel, and run the bare imports."""
        call("POST", self.user).raise_for_status()
        call("POST", f"{self.user}/server").raise_for_status()
        wait_until(lambda: call("GET", self.user).json()["servers"][""]["ready"])
        made = call("POST", f"{self.server}/api/kernels", json={"name": "python3"})
        made.raise_for_status()
        self.kernel = f"{self.server}/api/kernels/{made.json()['id']}"
        self.socket = websocket.create_connection(
            f"{self.kernel}/channels".replace("http", "ws", 1),
            timeout=WAIT,
            header={"Authorization": f"token {TOKEN}"},
        )
        self.session = Session()
        self.run(BARE)

    def run(self, code: str) -> str:
        """Run a cell as a front end does, and return the text it shows."""
        content = {"code": code, "store_history": True, "allow_stdin": False}
        message = self.session.msg("execute_request", content)
        self.socket.send(json.dumps(message | {"channel": "shell"}, default=str))
        text, missing = "", {"idle", "reply"}
        while missing:
            frame = self.socket.recv()
            if isinstance(frame, bytes):  # an explorer's picture on its way to the page
                continue
            answer = json.loads(frame)
            if answer["parent_header"].get("msg_id") != message["msg_id"]:
                continue
            kind, content = answer["msg_type"], answer["content"]
            if kind == "stream":
                text += content["text"]
            elif kind == "execute_result":
                text += content["data"]["text/plain"]
            elif kind == "error":
                self.failures.append(f"{content['ename']}: {content['evalue']}")
            elif kind == "execute_reply":
                missing.discard("reply")
            elif kind == "status" and content["execution_state"] == "idle":
                missing.discard("idle")
        return text

    def open(self, name: str) -> None:
        """Run a notebook in a fresh kernel; each cell must say what is stored."""
        call("POST", f"{self.kernel}/restart").raise_for_status()
        for cell in code_cells(name):
            if self.run(cell.source) != text_of(cell):
                self.failures.append(f"{name}: not as stored:\n{cell.source}")

    def memory(self, hub: psutil.Process) -> tuple[float, float]:
        """Return the PSS in MB of the server with its kernel, and of the kernel."""
        (server,) = (
            child
            for child in hub.children()
            if child.environ().get("JUPYTERHUB_USER") == self.name
        )
        (kernel,) = server.children()
        kernel_size = kernel.memory_full_info().pss / 1e6
        return server.memory_full_info().pss / 1e6 + kernel_size, kernel_size


def main(count: int = 20) -> str:
    """Print what a class of so many takes; return what went wrong, or nothing."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(count) as at_once,
        jupyterhub(Path(folder)) as (address, hub),
    ):
        learners = [Learner(address, f"learner-{n}") for n in range(1, count + 1)]
        begun = time.monotonic()
        list(at_once.map(Learner.start, learners))
        minutes = (time.monotonic() - begun) / 60
        print(f"{count} learners at once, {os.cpu_count()} cores")
        print(f"starts a minute, server and kernel: {count / minutes:.1f}")
        bare = median(learner.memory(hub)[1] for learner in learners)

        print(f"a kernel that has only imported: {bare:.0f} MB")
        print("memory a learner, with this notebook open, and its kernel's part:")
        most = 0.0
        begun = time.monotonic()
        for name in NAMES:
            list(at_once.map(Learner.open, learners, [name] * count))
            sizes = [learner.memory(hub) for learner in learners]
            both, kernel = map(median, zip(*sizes, strict=True))
            most = max(most, kernel / bare)
            print(f"  {Path(name).stem:24} {both:.0f} MB, {kernel:.0f} MB", end=", ")
            print(f"{kernel / bare:.2f} times the import alone")
        print(f"all six notebooks: {time.monotonic() - begun:.0f} s")
        failures = [failure for learner in learners for failure in learner.failures]
        print(f"failures: {len(failures)}")
        for learner in learners:
            learner.socket.close()
    if most > MOST:
        failures.append(f"{most:.2f} times the import alone; it may be {MOST}")
    return "\n".join(failures)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
