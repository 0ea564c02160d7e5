"""Read what a class has handed in: who has solved what, and the commonest mistakes.

    python -m labsupport.collect FOLDER

This RUNS the code that was handed in, each notebook in a process of its own, in a copy
of its folder, with a limit on time and (on Linux) on memory. That keeps mistakes in,
not malice: run it where you would run the notebooks by hand. Stored output is never
believed: every answer is held to `verdict` afresh.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = {"right": "right", "not started": "-", "missing": "missing"}


class Found(NamedTuple):
    """What came of one exercise: a status, and the words for it."""

    status: str  # "right", "wrong", "not started", "missing" or "did not run"
    words: str = ""

    def __str__(self) -> str:
        return f"{self.status}: {self.words}" if self.words else self.status


# In the process that runs one notebook.


def run(path: Path, said: Path, seconds: int, megabytes: int) -> None:
    """Run one notebook; write a line to `said` for each exercise, once it is judged."""
    from IPython.core.interactiveshell import InteractiveShell

    from labsupport.checks import EXERCISES, verdict

    # The notebook imports a labsupport of its own, and can spoil only that one.
    for name in [n for n in sys.modules if n.split(".")[0] == "labsupport"]:
        del sys.modules[name]
    sys.path.append(os.getcwd())
    _limit_memory(megabytes)
    shell = InteractiveShell.instance()
    asked = set()

    def tell(exercise: str, found: Found) -> None:
        asked.add(exercise)
        with said.open("a", encoding="utf-8") as file:
            file.write(json.dumps([exercise, *found]) + "\n")

    def judge(exercise: str, expression: str, wrong: str) -> None:
        with _alarm(seconds):
            done = shell.run_cell(f"_answer = ({expression})", silent=True)
        if not done.success:
            tell(exercise, Found("did not run", wrong or _said(done.error_in_exec)))
            return
        with _alarm(seconds):
            status, message = verdict(exercise, shell.user_ns["_answer"])
        sentence = message.partition(". ")[2].partition("\n  ")[0]
        words = " ".join(sentence.split()) if status == "wrong" else ""
        tell(exercise, Found(status, words))

    try:
        cells = nbformat.read(path, as_version=4).cells
    except Exception:
        tell("", Found("did not run", "it is not a notebook"))
        return
    for cell in [c.source for c in cells if c.cell_type == "code"]:
        try:
            tree = ast.parse(shell.transform_cell(cell))
        except SyntaxError as error:
            for exercise in (e for e in EXERCISES if _quotes(cell, e)):
                tell(exercise, Found("did not run", _said(error)))
            continue
        questions = [(node, q) for node in tree.body if (q := _question(node))]
        tree.body = [n for n in tree.body if n not in [node for node, _ in questions]]
        with _alarm(seconds):
            done = shell.run_cell(ast.unparse(tree), silent=True)
        failed = done.error_before_exec or done.error_in_exec
        for _, (exercise, expression) in questions:
            if exercise in EXERCISES:
                judge(exercise, expression, _said(failed) if failed else "")
    for exercise in EXERCISES:  # the check is gone, the answer may still be there
        if exercise not in asked and f"my_{exercise}" in shell.user_ns:
            judge(exercise, f"my_{exercise}", "")
    tell("", Found("missing"))  # whatever is not told by now


def _question(node: ast.stmt) -> tuple[str, str] | None:
    """Return the exercise and the answer, as code, of a statement that asks `check`."""
    call = getattr(node, "value", None)
    if not (isinstance(node, ast.Expr) and isinstance(call, ast.Call)):
        return None
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if name != "check" or len(given) != 2 or not isinstance(given[0], ast.Constant):
        return None
    return str(given[0].value), ast.unparse(given[1])


def _quotes(source: str, exercise: str) -> bool:
    return f'"{exercise}"' in source or f"'{exercise}'" in source


def _said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "it does not come to an end"
    if isinstance(error, SyntaxError):
        return f"SyntaxError in line {error.lineno} of its cell: {error.msg}"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200].rstrip(": ")


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Interrupt what runs inside after so many seconds, where the system can."""

    def ring(*_: object) -> None:
        raise KeyboardInterrupt

    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except KeyboardInterrupt:
        pass  # it rang between two statements of ours
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_memory(megabytes: int) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 2**20,) * 2)


# In the process that a teacher starts.


def run_apart(path: Path, limits: argparse.Namespace, config: Path) -> dict[str, Found]:
    """Return what came of each exercise of one notebook, run in a copy of its folder.

    What has been judged before the notebook is stopped, or stops itself, counts.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder, said = Path(place, "folder"), Path(place, "said")
        folder.mkdir()
        said.touch()
        for beside in path.parent.iterdir():  # a data file or a module of their own
            if beside.is_file() and (beside == path or beside.suffix != ".ipynb"):
                shutil.copy(beside, folder)
        command = [sys.executable, "-P", "-m", "labsupport.collect", "--run"]
        command += [str(folder / path.name), str(said)]
        command += [str(limits.cell_seconds), str(limits.megabytes)]
        settings = {"HOME": place, "USERPROFILE": place, "IPYTHONDIR": place}
        settings |= {"MPLCONFIGDIR": str(config), "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        limits.running.add(process)
        if limits.interrupted:  # while this one was starting
            stop(process)
        try:
            ended = process.wait(limits.seconds)
            reason = "it ended its process" if ended == 0 else "its process broke"
        except subprocess.TimeoutExpired:
            reason = f"stopped after {limits.seconds} seconds"
        finally:
            stop(process)
            limits.running.discard(process)
        lines = said.read_text(encoding="utf-8").splitlines()
        found = {name: Found(*rest) for name, *rest in map(json.loads, lines)}
    return {"": Found("did not run", reason)} | found


def stop(process: subprocess.Popen) -> None:
    """End a process, and on POSIX all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def rooms() -> dict[str, list[str]]:
    """Return the exercises of each of the lab's notebooks, by its name."""
    from labsupport import checks

    files = [name for name in vars(checks) if name.startswith("exercises_")]
    return {
        file.removeprefix("exercises_"): [
            name
            for name, made in vars(getattr(checks, file)).items()
            if made is checks.EXERCISES.get(name)
        ]
        for file in sorted(files)
    }


def room_of(path: Path, room_names: dict[str, list[str]]) -> str:
    """Return the lab's notebook that a file is a copy of, or nothing."""
    text = path.read_text(encoding="utf-8", errors="replace")
    votes = {
        room: sum(f"my_{exercise}" in text for exercise in exercises)
        + 0.5 * (room in path.stem)
        for room, exercises in room_names.items()
    }
    best = max(votes, key=lambda room: votes[room])
    return best if votes[best] else ""


def learner_of(path: Path, folder: Path, room: str) -> str:
    """Return whose a file is: what its path says beside the notebook's own name."""
    stem = path.stem.replace(room, "").strip("_- .") if room else path.stem
    return "/".join([*path.relative_to(folder).parts[:-1], *([stem] * bool(stem))])


def collect(
    folder: Path, limits: argparse.Namespace
) -> tuple[dict[str, dict[str, Found]], list[str]]:
    """Run all notebooks below a folder; return the table, and who is not in it, why."""
    paths = sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    table: dict[str, dict[str, Found]] = {}
    strays: list[str] = []
    room_names = rooms()
    limits.running, limits.interrupted = set(), False

    def enter(path: Path, found: dict[str, Found]) -> None:
        room = room_of(path, room_names)
        if not room and not set(found) - {""}:
            strays.append(
                f"{path.relative_to(folder)}: no exercise of the lab is in it"
            )
            return
        rest = found[""]
        judged = {exercise: f for exercise, f in found.items() if exercise}
        whole = dict.fromkeys(room_names.get(room, []), rest) | judged
        learner = learner_of(path, folder, room) or path.stem
        if set(table.get(learner, {})) & set(whole):  # a second copy
            learner = str(path.relative_to(folder))
        table.setdefault(learner, {}).update(whole)

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as config,
        ThreadPoolExecutor(limits.jobs) as pool,
    ):
        _lend_font_cache(Path(config))
        jobs = {pool.submit(run_apart, p, limits, Path(config)): p for p in paths}
        results: dict[Path, dict[str, Found]] = {}
        try:
            for done in as_completed(jobs):
                results[jobs[done]] = done.result()
                _show_progress(len(results), len(paths))
        except KeyboardInterrupt:
            print("\nInterrupted: what is done so far is kept.", file=sys.stderr)
            limits.interrupted = True
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(limits.running):
                stop(process)
    interrupted = {"": Found("did not run", "interrupted before its turn")}
    for path in paths:
        enter(path, results.get(path, interrupted))
    return table, strays


def _lend_font_cache(config: Path) -> None:
    """Spare each process the half minute in which matplotlib lists the fonts."""
    import matplotlib
    import matplotlib.font_manager  # makes the list if there is none

    for fonts in Path(matplotlib.get_cachedir()).glob("fontlist-*.json"):
        shutil.copy(fonts, config)


def _show_progress(done: int, of: int) -> None:
    end = "\n" if done == of else ""
    bar = "#" * (30 * done // of)
    print(f"\r[{bar:30}] {done} of {of}", end=end, file=sys.stderr, flush=True)


def mistakes_of(table: dict[str, dict[str, Found]]) -> list[tuple[str, str, int]]:
    """Return each exercise and mistake with its count, the commonest first."""
    counted = Counter(
        (exercise, found.words)
        for row in table.values()
        for exercise, found in row.items()
        if found.status == "wrong"
    )
    return [(*what, count) for what, count in counted.most_common()]


def as_text(table: dict[str, dict[str, Found]]) -> str:
    """Return the commonest mistakes, then a table for each of the lab's notebooks."""
    mistakes = mistakes_of(table)
    number = {(e, words): n for n, (e, words, _) in enumerate(mistakes, 1)}
    lines = ["The commonest mistakes, and how many made them", ""]
    lines += [
        f"{n:3}. {count} x {exercise}: {words}"
        for n, (exercise, words, count) in enumerate(mistakes, 1)
    ] or ["None."]
    width = max([len("learner"), *map(len, table)])
    reasons: dict[str, list[str]] = {}
    for room, exercises in rooms().items():
        if not any(set(row) & set(exercises) for row in table.values()):
            continue
        widths = [max(len(e), len("did not run")) for e in exercises]
        heads = "  ".join(f"{e:{w}}" for e, w in zip(exercises, widths, strict=True))
        lines += ["", room, f"  {'learner':{width}}  {heads}".rstrip()]
        for learner, row in sorted(table.items()):
            cells = []
            for exercise, w in zip(exercises, widths, strict=True):
                found = row.get(exercise, Found("missing"))
                mark = MARK.get(found.status, found.status)
                if found.status == "wrong":
                    mark = f"wrong ({number[exercise, found.words]})"
                elif found.words:
                    said = reasons.setdefault(f"{learner}: {found.words}", [])
                    said.append(exercise)
                cells.append(f"{mark:{w}}")
            lines.append(f"  {learner:{width}}  {'  '.join(cells)}".rstrip())
    if reasons:
        lines += ["", "What did not run, and why", ""]
        lines += [f"  {why} ({', '.join(which)})" for why, which in reasons.items()]
    key = "-: not started; missing: the exercise is not in what was handed in; "
    return "\n".join([*lines, "", f"{key}(n): the mistake of that number."])


def write_csv(table: dict[str, dict[str, Found]], path: Path) -> None:
    exercises = [e for room in rooms().values() for e in room]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["learner", *exercises])
        for learner, row in sorted(table.items()):
            found = (row.get(exercise, Found("missing")) for exercise in exercises)
            writer.writerow([learner, *map(str, found)])


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        path, said, *most = sys.argv[2:]
        run(Path(path), Path(said), *map(int, most))
        return
    parser = argparse.ArgumentParser(
        prog="python -m labsupport.collect",
        description="Run the notebooks that a class has handed in, ask the checks for "
        "every exercise, and print who has solved what. It RUNS the students' code: "
        "in processes and copies of its own, which keeps out accidents, not malice.",
    )
    add = partial(parser.add_argument, type=int, metavar="N")
    parser.add_argument("folder", type=Path, help="a notebook or a folder of a learner")
    parser.add_argument("--csv", type=Path, default=Path("class.csv"), metavar="FILE")
    add("--seconds", default=90, help="for one notebook (%(default)s)")
    add("--cell-seconds", default=10, help="for one cell or one check (%(default)s)")
    add("--megabytes", default=1500, help="of memory, on Linux (%(default)s)")
    add("--jobs", default=os.cpu_count() or 1, help="at a time (%(default)s)")
    limits = parser.parse_args()
    if not limits.folder.is_dir():
        parser.error(f"{limits.folder} is not a folder")
    print("This runs the code that was handed in.", file=sys.stderr)
    table, strays = collect(limits.folder, limits)
    print(as_text(table))
    if strays:
        print("\nLeft out\n\n" + "\n".join(f"  {stray}" for stray in strays))
    write_csv(table, limits.csv)
    print(f"\nThe table is in {limits.csv}, too.")


if __name__ == "__main__":
    main()
