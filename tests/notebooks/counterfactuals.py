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
from typing import NamedTuple

import numpy as np
from running import Exchanges

import labsupport.block as lab


class Counterfactual(NamedTuple):
    claims: str
    notebook: int
    instead: Exchanges

    def __str__(self) -> str:
        return f"{self.claims.replace(' ', '-')}-{'-'.join(self.instead)}"


def to(new: object) -> Callable[[object], object]:
    """Return what puts `new` in the place of whatever stands there."""
    return lambda old: new


def straight(x):
    """The bend left out."""
    return np.asarray(x)


def without_bend(bank):
    return lambda x, W1, W2: bank(x, W1, W2, straight)


def centred(bank):
    """A bank whose words see each other: the mean word is taken away first."""
    return lambda x, W1, W2: bank(x - x.mean(axis=0), W1, W2)


def unscaled(Q, K, mask=None):
    """Attention without the division by the root of d_k."""
    return lab.softmax(Q @ K.T)


def replacing(z, storeys, rule):
    """A stack in which "add" forgets to add."""
    sizes = [lab.np.sqrt(np.mean(z**2))]
    for W in storeys:
        z = z @ W
        sizes.append(np.sqrt(np.mean(z**2)))
    return np.array(sizes)


def replaced_slope(storeys, rule):
    slope, sizes = np.eye(32), []
    for W in reversed(storeys):
        slope = W @ slope
        sizes.append(np.linalg.norm(slope) / np.sqrt(32))
    return np.array(sizes[::-1])
