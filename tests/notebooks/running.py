"""Run a notebook's cells in this process, other functions and figures in their place.

No kernel is started, so that a notebook with one name exchanged takes a fraction of a
second. What is exchanged is named, not a piece of source text: whatever a statement
binds to that name, the replacement is made of it before the next statement runs.
"""

import ast
import contextlib
import importlib
import io
from collections.abc import Callable, Iterator, Mapping
from unittest.mock import patch

# By name, what to make of what the notebook has bound to it: relu, or block.relu for
# the one that stands in labsupport.
Exchanges = Mapping[str, Callable[[object], object]]


def bound_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds where it stands, not in its functions."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    nodes = list(ast.walk(statement))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and not is_read(n)}
    names |= {a.asname or a.name for a in nodes if isinstance(a, ast.alias)}
    return names


def is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


class Run:
    """A notebook that runs in this process, some names exchanged."""

    def __init__(self, exchanges: Exchanges | None = None) -> None:
        self.exchanges = dict(exchanges or {})
        self.namespace: dict[str, object] = {}
        self.exchanged: set[str] = set()

    @contextlib.contextmanager
    def in_labsupport(self) -> Iterator[None]:
        """Exchange the names that stand in labsupport, and put them back after."""
        with contextlib.ExitStack() as stack:
            for name, change in self.exchanges.items():
                module, _, attribute = name.rpartition(".")
                if module:
                    module = importlib.import_module(f"labsupport.{module}")
                    if not hasattr(module, attribute):
                        continue
                    new = change(getattr(module, attribute))
                    stack.enter_context(patch.object(module, attribute, new))
                    self.exchanged.add(name)
            yield

    def cell(self, source: str, show: bool = True) -> str:
        """Run a cell; return what it prints and the text of its last expression.

        Without `show` that last expression is left out: nothing later needs it.
        """
        statements = ast.parse(source).body
        last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
        values: list[object] = []
        said = io.StringIO()
        with contextlib.redirect_stdout(said), patch("sys.displayhook", values.append):
            for statement in statements:
                self.execute(ast.Module([statement], []), "exec")
                for name in self.exchanges.keys() & bound_by(statement):
                    self.namespace[name] = self.exchanges[name](self.namespace[name])
                    self.exchanged.add(name)
            if last and show:
                self.execute(ast.Interactive([last]), "single")
        shown = [repr(value) for value in values if value is not None]
        return said.getvalue() + "".join(shown)

    def execute(self, tree: ast.Module | ast.Interactive, mode: str) -> None:
        exec(compile(tree, "cell", mode), self.namespace)
