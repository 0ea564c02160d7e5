"""JupyterLab on loopback and Chromium in front of it, for the browser tests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING

import nbformat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HIDE = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


@contextlib.contextmanager
def jupyterlab(folder: Path, theme: str = "JupyterLab Light") -> Iterator[str]:
    """Serve JupyterLab for the notebooks in `folder`; yield its address."""
    home = folder / ".home"
    themes = home / "settings" / "@jupyterlab" / "apputils-extension"
    themes.mkdir(parents=True)
    (themes / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    (home / "labconfig").mkdir()
    (home / "labconfig" / "page_config.json").write_text(json.dumps(HIDE))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {
        "JUPYTER_CONFIG_DIR": home,
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    command += ["--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    with (home / "log.txt").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env=os.environ | {name: str(place) for name, place in places.items()},
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api", home / "log.txt")
            yield address
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(address: str, log: Path) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text("utf-8"))


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def write_notebook(path: Path, *cells: str) -> Path:
    """Write a notebook of code cells that has never been run."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, path)
    return path


def open_notebook(page: Page, address: str, name: str) -> None:
    """Open a notebook and wait until its kernel is ready."""
    page.goto(f"{address}/lab/tree/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function(
        """() => {
          const panel = window.jupyterapp?.shell.currentWidget;
          return panel?.sessionContext?.session?.kernel?.status === 'idle';
        }""",
        timeout=60_000,
    )


def run(page: Page, command: str = "notebook:run-all-cells") -> None:
    """Run a command of JupyterLab and wait until the kernel has nothing to do."""
    page.evaluate("command => window.jupyterapp.commands.execute(command)", command)
    page.wait_for_function(
        """() => {
          const panel = window.jupyterapp.shell.currentWidget;
          const prompts = [...document.querySelectorAll('.jp-InputPrompt')];
          return panel.sessionContext.session.kernel.status === 'idle'
            && !prompts.some(p => p.textContent.includes('*'));
        }""",
        timeout=60_000,
    )
