"""What running the lab without a screen costs, beside the least that it could cost.

    python tests/benchmarks/bench_headless.py [rounds]

Prints two ratios, each a median over rounds that take turns: strict nbval on the six
notebooks beside six that only import NumPy, matplotlib and ipywidgets and draw one
line; and `import labsupport.block` beside `import numpy`.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from nbformat.v4 import new_code_cell, new_notebook

sys.path.append(str(Path(__file__).parents[1]))

from store import NOTEBOOKS, canonical, run

BARE = [
    "import ipywidgets as widgets\nimport matplotlib.pyplot as plt\nimport numpy as np",
    "plt.plot(np.arange(3))\nplt.show()",
]


def make_bare(folder: Path) -> None:
    """Write six notebooks that do next to nothing, with their outputs stored."""
    notebook = run(new_notebook(cells=[new_code_cell(cell) for cell in BARE]), folder)
    text = canonical(notebook)
    for number in range(6):
        (folder / f"bare_{number}.ipynb").write_text(text, encoding="utf-8")


def nbval(folder: Path) -> list[str]:
    # No project settings, so that both folders are run in the same way.
    settings = ["-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider"]
    return [sys.executable, "-m", "pytest", "-q", "--nbval", *settings, str(folder)]


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(title: str, ours: list[str], bare: list[str], rounds: int) -> None:
    seconds(ours), seconds(bare)  # once unmeasured, so that all files are in memory
    pairs = [(seconds(ours), seconds(bare)) for _ in range(rounds)]
    our_median, bare_median = map(median, zip(*pairs, strict=True))
    ratio = our_median / bare_median
    print(f"{title}: {our_median:.2f} s / {bare_median:.2f} s = {ratio:.2f}")


def main(rounds: int = 5) -> None:
    def importing(module: str) -> list[str]:
        return [sys.executable, "-c", f"import {module}"]

    with tempfile.TemporaryDirectory() as folder:
        make_bare(Path(folder))
        title = "strict nbval, the six / six bare notebooks"
        compare(title, nbval(NOTEBOOKS), nbval(Path(folder)), rounds)
    title = "import labsupport.block / import numpy"
    compare(title, importing("labsupport.block"), importing("numpy"), 10 * rounds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
