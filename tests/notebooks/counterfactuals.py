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


COUNTERFACTUALS = [
    # 01: the bend, the unit's contribution
    Counterfactual("U1 U3", 1, {"relu": to(straight)}),
    Counterfactual(
        "U2", 1, {"fires": lambda fires: lambda p, e: 1.0 * (fires(p, e) > 0)}
    ),
    # 02: the bank
    Counterfactual("U4", 2, {"relu": to(straight)}),
    Counterfactual("U5 N5", 2, {"feed_forward": to(lambda x, W1, W2: x @ W1 @ W2)}),
    Counterfactual("U6", 2, {"d_ff": to(64)}),
    Counterfactual(
        "U7",
        2,
        {"feed_forward": lambda bank: lambda x, *W: bank(x - x.mean(axis=0), *W)},
    ),
    Counterfactual("N6", 2, {"n_tests": to(27)}),
    # 03: what the bend is worth
    Counterfactual("U8 U9", 3, {"no_bend": to(lab.relu)}),
    Counterfactual("U10", 3, {"relu": to(straight)}),
    Counterfactual("N1 N3", 3, {"blend": bent}),
    Counterfactual("N2 N4", 3, {"softmax": to(straight)}),
]
