"""Lets tox find every Python that pyenv keeps, not only the one that is active."""

import os
import shutil
import subprocess
from pathlib import Path

from tox.plugin import impl


@impl
def tox_add_option(parser):
    """Put pyenv's interpreters on the path, behind all others, before tox looks."""
    if pyenv := shutil.which("pyenv"):
        root = subprocess.check_output([pyenv, "root"], text=True).strip()
        found = Path(root, "versions").glob("3.*/bin")
        os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *map(str, found)])
