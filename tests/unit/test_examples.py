"""Hold examples.py to the documents' own figures, worked by hand or in plain loops."""

import loops
import numpy as np
import pytest

from labsupport import examples

ARRAYS = [name for name, value in vars(examples).items() if type(value) is np.ndarray]


def test_the_units_give_the_documents_figures():
    fired = loops.fires(examples.PATTERN.tolist(), examples.EVIDENCES.tolist())
    np.testing.assert_allclose(fired, [1.4, 0, 0], atol=1e-15)
    np.testing.assert_allclose(fired[0] * examples.CONTRIBUTION, [1.4, 0.7])


def test_the_bank_gives_the_documents_figures():
    evidence = examples.EVIDENCES.tolist()[:1]
    matches = loops.times(evidence, examples.W1.tolist())
    np.testing.assert_allclose(matches, [[1.4, -0.6, -0.2]])
    out = loops.feed_forward(evidence, examples.W1.tolist(), examples.W2.tolist())
    np.testing.assert_allclose(out, [[1.4, 0.7]])
    # Without the bend every row of W2 counts: 1.4 + 0.3 - 0.1 and 0.7 - 0.6 + 0.2.
    unbent = loops.times(matches, examples.W2.tolist())
    np.testing.assert_allclose(unbent, [[1.6, 0.3]])


def test_the_banks_first_unit_is_the_tables():
    assert examples.W1[:, 0].tolist() == examples.PATTERN.tolist()
    assert examples.W2[0].tolist() == examples.CONTRIBUTION.tolist()


def test_the_measured_stack():
    assert " ".join(examples.SENTENCE) == ("the cat sat on the mat because it was soft")
    found = examples.D_MODEL, examples.N_STOREYS, examples.GAIN
    assert found == (32, 24, 0.7)


def test_what_chased_reads():
    reads = dict(zip(examples.WORDS, examples.CHASED_READS.tolist(), strict=True))
    assert (reads["mouse"], reads["cat"]) == (0.60, 0.18)
    assert abs(sum(reads.values()) - 1) < 1e-12
    stretched = loops.softmax([[3 * np.log(share) for share in reads.values()]])
    assert f"{stretched[0][-1]:.5f}" == "0.96497"


@pytest.mark.parametrize("name", ARRAYS)
def test_the_arrays_cannot_be_written_to(name):
    array = getattr(examples, name)
    assert array.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        array *= 2
    array.copy()[...] = 0


def test_no_array_is_missed():
    assert len(ARRAYS) == 6
