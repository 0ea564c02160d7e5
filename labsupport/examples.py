"""The documents' worked numbers, by name, each with its source.

The arrays cannot be written to, so a cell that is run twice reads the same numbers
twice; ``W1.copy()`` gives one to change.
"""

import numpy as np


def _fixed(numbers: list) -> np.ndarray:
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


# if-units, "One if at a time" (U1, U2): the table's unit and its three evidences.
PATTERN = _fixed([1.0, -1.0])
CONTRIBUTION = _fixed([1.0, 0.5])
EVIDENCES = _fixed([[0.8, -0.6], [-0.8, 0.6], [0.5, 0.5]])

# if-units, "A bank of ifs" (U4): three units; the first is the table's.
W1 = _fixed([[1.0, 0.0, -1.0], [-1.0, 1.0, -1.0]])
W2 = _fixed([[1.0, 0.5], [-0.5, 1.0], [0.5, -1.0]])

# if-units, "Why once is not enough": the ten words of the measured stack (U11, U15).
SENTENCE = ("the", "cat", "sat", "on", "the", "mat", "because", "it", "was", "soft")
D_MODEL = 32
N_STOREYS = 24
GAIN = 0.7

# nine-wide, opening and "Keeping the numbers in range" (N7): what *chased* reads.
WORDS = ("The", "cat", "chased", "the", "mouse")
CHASED_READS = _fixed([0.06, 0.18, 0.12, 0.04, 0.60])
