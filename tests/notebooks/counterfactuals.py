"""For each claim, what would make its demonstration come out otherwise.

An entry exchanges functions and figures by name, in a notebook or in labsupport, and
the cells that are tagged with its claims must then say something else. So an entry is

    Counterfactual("U1 U3", 1, {"relu": to(straight)}),

the claims, the notebook's number, and by name what is made of what stands there:
`to(x)` puts x in its place, a function of one's own is given what stands there. A name
with a dot, as block.relu, stands in labsupport, where it is looked up as the notebook
runs; one without is bound by a cell. A replacement must run through: a demonstration
is to say something else, and not to stop.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from running import Exchanges
from stored import NAMES

import labsupport.block as lab


@dataclass(eq=False)
class Counterfactual:
    claims: str
    number: int
    instead: Exchanges

    def __str__(self) -> str:
        return f"{self.claims} {', '.join(self.instead)}".replace(" ", "-")

    @property
    def name(self) -> str:
        return NAMES[self.number - 1]


def to(new: object) -> Callable[[object], object]:
    """Return what puts `new` in the place of whatever stands there."""
    return lambda old: new


def straight(x):
    """The bend left out."""
    return np.asarray(x)


def bent(function):
    """A bend put in behind."""
    return lambda *arguments: lab.relu(function(*arguments))


def replacing(function):
    """An answer in the place of what it was to be added to."""
    return lambda x, *more: function(x, *more) - x


def bank_without_bend(x, W1, W2, bend=None):
    return x @ W1 @ W2


COUNTERFACTUALS = [
    # 01: the bend, the unit's contribution
    Counterfactual("U1 U3", 1, {"relu": to(straight)}),
    Counterfactual("U1", 1, {"pattern": to(np.array([1.0, 1.0]))}),
    Counterfactual("U2", 1, {"fires": to(lambda p, e: 1.0 * (p @ e > 0))}),
    Counterfactual("U2 U3", 1, {"unit": replacing}),
    # 02: the bank
    Counterfactual("U4", 2, {"relu": to(straight)}),
    Counterfactual("U4", 2, {"W2": lambda W2: W2.T.reshape(3, 2)}),
    Counterfactual("U5 N5", 2, {"feed_forward": to(bank_without_bend)}),
    Counterfactual("U5", 2, {"feed_forward": to(bent(bank_without_bend))}),
    Counterfactual("U6", 2, {"d_ff": to(64)}),
    Counterfactual(
        "U7", 2, {"feed_forward": lambda f: lambda x, *W: f(x - x.mean(0), *W)}
    ),
    Counterfactual("U7", 2, {"shares": to(np.eye(10))}),
    Counterfactual("N5", 2, {"W1_mouse": to(np.array([[0], [1], [1], [0]]))}),
    Counterfactual("N5", 2, {"wanted": to(np.array([0.0, 1.0, 1.0, 2.0]))}),
    Counterfactual("N6", 2, {"n_tests": to(27)}),
    # 03: what the bend is worth
    Counterfactual("U8 U9 U10", 3, {"no_bend": to(lab.relu)}),
    Counterfactual("U10 N1", 3, {"relu": to(straight)}),
    Counterfactual("N1 N3", 3, {"blend": bent}),
    Counterfactual("N2", 3, {"softmax": to(straight)}),
    Counterfactual("N2", 3, {"softmax": to(np.exp)}),
    Counterfactual(
        "N3", 3, {"after_one": to(np.random.default_rng(0).normal(size=(5, 9)))}
    ),
    Counterfactual("N4", 3, {"softmax": to(np.tanh)}),
    Counterfactual("N4", 3, {"feed_forward": to(lambda x, W1, W2, bend=None: x)}),
]
