"""Break what each claim rests on, and see that re-execution notices.

    python tests/break_claims.py [claims...]

Each break is made in a copy: one piece of a notebook's code, or of labsupport's, is put
wrong, and strict nbval then runs that notebook. The break is caught when a cell that is
tagged with the claim fails. Every break must be caught, and every tagged cell must
catch one; otherwise the exit is 1. (test_notebooks.py holds that all 40 are tagged.)
"""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import nbformat
from store import NOTEBOOKS
from test_notebooks import NAMES, code_cells, read

LABSUPPORT = NOTEBOOKS.parent / "labsupport"


class Break(NamedTuple):
    claims: str
    notebook: int
    old: str
    new: str
    module: str = ""  # where the code stands, if not in the notebook

    @property
    def name(self) -> str:
        return NAMES[self.notebook - 1]

    def stands(self) -> bool:
        """Return whether the code to be broken is still there."""
        sources = [cell.source for cell in code_cells(self.name)]
        if self.module:
            sources = [(LABSUPPORT / self.module).read_text(encoding="utf-8")]
        return any(self.old in source for source in sources)


GATHER = "multi_head_attention(layer_norm({}, *ln_1), *attn, mask)"
THINK = "feed_forward(layer_norm({}, *ln_2), *ffn)"
SWAPPED = (  # thinking before gathering
    f"Z = X + {GATHER.format('X')}\n    return Z + {THINK.format('Z')}",
    f"Z = X + {THINK.format('X')}\n    return Z + {GATHER.format('Z')}",
)
BREAKS = [
    # 01: the bend, the unit's contribution
    Break("U1 U3", 1, "return np.maximum(x, 0)", "return x"),
    Break("U2", 1, "return relu(pattern @ evidence)", "return pattern @ pattern"),
    # 02: the bank
    Break("U4", 2, "np.maximum(x, 0, dtype=x.dtype)", "x", "block.py"),
    Break("U5 N5", 2, "return relu(x @ W1) @ W2", "return (x @ W1) @ W2"),
    Break("U6", 2, "4 * 32", "2 * 32"),
    Break("U7", 2, "relu(x @ W1)", "relu((x - x.mean(axis=0)) @ W1)"),
    Break("N6", 2, "4 * 9", "3 * 9"),
    # 03: what the bend is worth
    Break("U8", 3, "= (x @ W1) @ W2", "= relu(x @ W1) @ W2"),
    Break("U9", 3, "deep = deep @ W", "deep = relu(deep @ W)"),
    Break("U10 N4", 3, "np.maximum(x, 0, dtype=x.dtype)", "x", "block.py"),
    Break("N1", 3, "one_round = (A_2 @ A_1)", "one_round = (A_1 @ A_2)"),
    Break("N2", 3, "above_zero.sum(axis=-1", "above_zero.sum(axis=-2"),
    Break("N3", 3, " / np.sqrt(d_k, dtype=np.result_type(Q, K))", "", "block.py"),
    Break(
        "N4",
        3,
        "return above_zero / above_zero.sum",
        "return above_zero * above_zero.sum",
    ),
    # 04: replacing and adding
    Break("U11", 4, "gain, n_storeys = 0.7", "gain, n_storeys = 0.8"),
    Break("U11 U14 U15", 4, "* 0.7 / np.sqrt(32)", "* 0.8 / np.sqrt(32)"),
    Break("U12 U15", 4, "z = z + z @ W", "z = z @ W"),
    Break("U13", 4, "z = z + notes[-1]", "z = notes[-1]"),
    Break("U14", 4, "slope = slope + W @ slope", "slope = W @ slope"),
    Break("N9", 4, "return 0.7 * np.tanh(x)", "return 0.8 * np.tanh(x)"),
    # 05: the size of the numbers
    Break("N7", 5, "np.sqrt(9) * scores", "np.sqrt(3) * scores"),
    Break("N8", 5, "@ (X @ W_K).T", "@ W_K"),
    Break(
        "N7 N8", 5, "weights.sum(axis=-1, keepdims=True)", "weights.max()", "block.py"
    ),
    Break("U16", 5, "spread / root", "spread / width"),
    Break(
        "U17 N10",
        5,
        "X.var(axis=-1, keepdims=True)",
        "X.var(axis=-1, keepdims=True, ddof=1)",
    ),
    Break("N10", 5, "np.sqrt(var + eps)", "(np.sqrt(var) + eps)"),
    Break("N10", 5, " * gamma + beta", " * gamma"),
    Break("N10", 5, " * gamma + beta", " + beta"),
    Break("U15 U17 N14", 5, "gain=0.7", "gain=0.8"),
    Break("U15 U17", 5, "z = layer_norm(z + z @ W)", "z = z + z @ W"),
    Break("U18 N11", 5, "X.mean(axis=-1, keepdims=True)", "X.mean(axis=0)"),
    Break(
        "N12", 5, "batch.mean(axis=0), batch.var(axis=0)", "batch.mean(), batch.var()"
    ),
    Break("N14", 5, "z = z + layer_norm(z) @ W", "z = layer_norm(z + z @ W)"),
    Break("N13", 5, "_slope_of_norm(rows) @ W", "W", "stack.py"),
    Break("N13", 5, "note - mean) / spread", "note - mean)"),
    # 06: the block
    Break("N15 U19", 6, "return Z + feed_forward(", "return X.T @ feed_forward("),
    Break("U19", 6, "Z = X + multi_head_attention", "Z = multi_head_attention"),
    Break("U19", 6, "layer_norm(Z, *ln_2)", "Z"),
    Break("U20", 6, *SWAPPED),
    Break("U21", 6, "return Z + feed_forward", "return feed_forward"),
    Break("N14", 6, "gain=0.7", "gain=0.8"),
    Break("N14", 6, "z = z + layer_norm(z) @ W", "z = layer_norm(z + z @ W)"),
    Break("N16", 6, " * gamma + beta", " + beta", "block.py"),
    Break("N17", 6, "d_ff = 4 * d_model", "d_ff = 3 * d_model", "block.py"),
    Break("N18", 6, "np.tri(n, dtype=bool)", "np.tri(n, dtype=bool).T", "block.py"),
    Break(
        "U22",
        6,
        "return softmax(scores)",
        "return softmax(scores + np.eye(len(scores))[0])",
    ),
]


def lay_out(change: Break, folder: Path) -> None:
    """Write the notebook, and labsupport where it is meant, with the break made."""
    folder.mkdir()
    notebook = copy.deepcopy(read(change.name))
    if change.module:
        shutil.copytree(LABSUPPORT, folder / "labsupport")
        module = folder / "labsupport" / change.module
        source = module.read_text(encoding="utf-8")
        module.write_text(source.replace(change.old, change.new), encoding="utf-8")
    elif change.old:
        for cell in notebook.cells:
            cell.source = cell.source.replace(change.old, change.new)
    nbformat.write(notebook, folder / "broken.ipynb")


def failing_cells(breaks: list[Break]) -> list[set[int]]:
    """Run the notebooks in one nbval; return the code cells that fail in each."""
    # A kernel starts in its notebook's folder and finds the labsupport there first.
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", "."]
    command += ["--nbval", "--tb=no", "-rf", "--color=no", "-p", "no:cacheprovider"]
    with tempfile.TemporaryDirectory() as folder:
        for number, change in enumerate(breaks):
            lay_out(change, Path(folder, str(number)))
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    failed = re.findall(r"^FAILED (\d+)\W.*::Cell (\d+)", done.stdout, re.MULTILINE)
    return [
        {int(cell) for number, cell in failed if int(number) == place}
        for place in range(len(breaks))
    ]


def main(wanted: list[str]) -> int:
    """Make every break, or those of the claims that are named; say what came of it."""
    breaks = [b for b in BREAKS if not wanted or set(wanted) & set(b.claims.split())]
    if gone := [change for change in breaks if not change.stands()]:
        raise SystemExit(f"The code to be broken has changed: {gone}")
    unbroken = [Break("", number, "", "") for number in range(1, 7)]
    jobs, workers = unbroken + breaks, os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        parts = list(
            pool.map(failing_cells, (jobs[n::workers] for n in range(workers)))
        )
    failing = [parts[n % workers][n // workers] for n in range(len(jobs))]
    if any(failing[:6]):
        raise SystemExit("The notebooks fail as they are: store them afresh first.")

    tagged = {  # every (claim, notebook, code cell)
        (tag.removeprefix("claim:"), number, place)
        for number, name in enumerate(NAMES, 1)
        for place, cell in enumerate(code_cells(name))
        for tag in cell.metadata.get("tags", [])
    }
    caught, survived = set(), 0
    for change, cells in zip(breaks, failing[6:], strict=True):
        for claim in change.claims.split():
            hit = {(claim, change.notebook, cell) for cell in cells} & tagged
            caught |= hit
            survived += not hit
            where = ", ".join(str(cell) for *_, cell in sorted(hit))
            told = f"caught in cell {where}" if hit else "SURVIVED"
            what = f"{change.old!r} -> {change.new!r}"
            print(f"{claim:3} {change.name[:2]}  {told:21}  {what}")
    unproven = set() if wanted else tagged - caught
    for claim, number, cell in sorted(unproven):
        print(f"{claim:3} 0{number}  no break is caught in cell {cell}")
    print(f"{len(breaks)} breaks; {survived} survived, {len(unproven)} cells unproven")
    return int(survived > 0 or len(unproven) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
