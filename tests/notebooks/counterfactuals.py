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


def always(rule):
    """A stack, or its slope, by this rule whatever is asked for."""
    return lambda function: lambda *where: function(*where[:-1], rule)


def norm(axis=-1, ddof=0, inside=1.0, scale=1.0, shift=1.0):
    """Layer norm with one thing put wrong."""

    def layer_norm(X, gamma=1.0, beta=0.0, eps=1e-5):
        mean = X.mean(axis=axis, keepdims=True)
        var = X.var(axis=axis, ddof=ddof, keepdims=True)
        spread = np.sqrt(var + inside * eps) + (1 - inside) * eps
        return (X - mean) / spread * gamma**scale + shift * beta

    return layer_norm


def untidied(X, *gamma_beta, **settings):
    return X


def replacing_block(X, attn, ffn, ln_1, ln_2, mask=None):
    Z = lab.multi_head_attention(lab.layer_norm(X, *ln_1), *attn, mask=mask)
    return lab.feed_forward(lab.layer_norm(Z, *ln_2), *ffn)


def thinking_first(X, attn, ffn, ln_1, ln_2, mask=None):
    Z = X + lab.feed_forward(lab.layer_norm(X, *ln_2), *ffn)
    return Z + lab.multi_head_attention(lab.layer_norm(Z, *ln_1), *attn, mask=mask)


def one_norm(block):
    """A block whose two sublayers read through the first norm."""
    return lambda X, attn, ffn, ln_1, ln_2: block(X, attn, ffn, ln_1, ln_1)


def one_word_lost(block):
    return lambda X, *params: block(X, *params)[:-1]


def norm_on_the_stream(opened):
    """An opened block that hands on a tidied stream."""

    def post_norm(X, *params, keep=1.0):
        stream, notes = opened(X, *params, keep=keep)
        return lab.layer_norm(stream), notes

    return post_norm


def with_places(run):
    """Blocks whose words carry their places."""
    return lambda z, mask=None: run(z + np.arange(5.0)[:, np.newaxis], mask)


COUNTERFACTUALS = [
    # 01: the bend, the unit's contribution
    Counterfactual("U1 U3", 1, {"relu": to(straight)}),
    Counterfactual("U1", 1, {"pattern": to(np.ones(2))}),
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
    Counterfactual("N3", 3, {"after_one": lambda rows: rows[::-1]}),
    Counterfactual("N4", 3, {"softmax": to(np.tanh)}),
    Counterfactual("N4", 3, {"feed_forward": to(lambda x, W1, W2, bend=None: x)}),
    # 04: replacing and adding
    Counterfactual("U11", 4, {"gain": to(1.0)}),
    Counterfactual("U11", 4, {"storey": always("add")}),
    Counterfactual("U12 U13 U15", 4, {"storey": always("replace")}),
    Counterfactual("U15", 4, {"storey": to(lambda z, W, rule: z / z.std())}),
    Counterfactual("U12 U14", 4, {"with_dud": lambda s: np.where(s == 0, 0.1, s)}),
    Counterfactual("U14", 4, {"slope_back": always("replace")}),
    Counterfactual("N9", 4, {"with_note": replacing}),
    # 05: the size of the numbers
    Counterfactual("N7 N8", 5, {"softmax": lambda f: lambda s: f(s / np.abs(s).max())}),
    Counterfactual("N8", 5, {"scores_of": lambda f: lambda X: f(lab.layer_norm(X))}),
    Counterfactual("U16", 5, {"divisor": to(lambda width: width)}),
    Counterfactual("U16", 5, {"divisor": to(lambda width: 1)}),
    Counterfactual("N10", 5, {"layer_norm": to(norm(ddof=1))}),
    Counterfactual("N10", 5, {"layer_norm": to(norm(inside=0.0))}),
    Counterfactual("N10", 5, {"layer_norm": to(norm(scale=0.0))}),
    Counterfactual("N10", 5, {"layer_norm": to(norm(shift=0.0))}),
    Counterfactual("U17 N14", 5, {"layer_norm": to(untidied)}),
    Counterfactual("U18 N11", 5, {"layer_norm": to(norm(axis=0))}),
    Counterfactual("N12", 5, {"batch_norm": to(lambda X, over=0: lab.layer_norm(X))}),
    Counterfactual("U15 N14", 5, {"run_stack": always("post_norm")}),
    Counterfactual("N13", 5, {"held_norm": to(lambda z, at: z)}),
    Counterfactual("N13", 5, {"untouched_lane": always("post_norm")}),
    Counterfactual("N13", 5, {"whole_slope": always("post_norm")}),
    # 06: the block
    Counterfactual("N15 U19", 6, {"block": one_word_lost}),
    Counterfactual("U19", 6, {"layer_norm": to(untidied)}),
    Counterfactual("U20", 6, {"block": to(thinking_first)}),
    Counterfactual(
        "U21", 6, {"opened": lambda f: lambda X, *w, keep=0: f(X, *w, keep=0)}
    ),
    Counterfactual("N14", 6, {"opened": norm_on_the_stream}),
    Counterfactual("N16", 6, {"block": one_norm}),
    Counterfactual(
        "N17", 6, {"params": to(lab.init_block(9, 3, np.random.default_rng(6), 27))}
    ),
    Counterfactual(
        "N18", 6, {"causal_mask": to(lambda n: np.ones((n, n), dtype=bool))}
    ),
    Counterfactual("U22", 6, {"run": with_places}),
    Counterfactual("U19 U21", 6, {"block": to(replacing_block)}),
    Counterfactual("N14", 6, {"layer_norm": to(untidied)}),
]
