"""Do the stored outputs hold on other processors, in another locale, under load?

    python tests/runners/everywhere.py [runs under load]

Strict nbval over the six notebooks, once for each OpenBLAS kernel with one thread and
with two, once with `LC_ALL=C`, and twenty times while every core is kept busy. Prints
a line for each; fails if one fails.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from store import NOTEBOOKS

KERNELS = ["Haswell", "Sandybridge", "Prescott"]
NBVAL = ["-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider", str(NOTEBOOKS)]


def holds(**settings: str) -> bool:
    """Return whether all stored outputs come out again; print so."""
    result = subprocess.run(
        [sys.executable, *NBVAL],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    held = result.returncode == 0
    named = " ".join(f"{name}={value}" for name, value in settings.items())
    print(f"{named or 'under load'}: {'holds' if held else 'FAILS'}", flush=True)
    if not held:
        print(result.stdout.decode("utf-8", "replace")[-3000:])
    return held


@contextlib.contextmanager
def every_core_busy() -> Iterator[None]:
    loop = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(loop) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()


def main(runs: int = 20) -> int:
    """Return how many runs have failed."""
    held = [
        holds(OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS=threads)
        for kernel in KERNELS
        for threads in "12"
    ]
    held.append(holds(LC_ALL="C"))
    with every_core_busy():
        held += [holds() for _ in range(runs)]
    print(f"{sum(held)} of {len(held)} hold")
    return held.count(False)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
