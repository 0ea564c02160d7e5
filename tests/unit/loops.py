"""The block once more, in plain loops over lists: what the tests compare with.

It shares no code with `labsupport` and does not import NumPy. One sequence at a
time: X is a list of rows. Slow on purpose, and short enough to check by eye.
"""

import math


def dot(a, b):
    return math.fsum(p * q for p, q in zip(a, b, strict=True))


def times(X, W):
    """Rows of X times the matrix W, number by number."""
    columns = [[row[j] for row in W] for j in range(len(W[0]))]
    return [[dot(row, column) for column in columns] for row in X]


def plus(X, Y):
    pairs = zip(X, Y, strict=True)
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in pairs]


def relu(X):
    return [[a if a > 0 else 0.0 for a in row] for row in X]


def fires(pattern, evidence):
    matches = (dot(pattern, one) for one in evidence)
    return [match if match > 0 else 0.0 for match in matches]


def feed_forward(X, W1, W2):
    """One unit after the other: its pattern a column of W1, its answer a row of W2."""
    out = [[0.0] * len(W2[0]) for _ in X]
    for unit in range(len(W2)):
        pattern = [row[unit] for row in W1]
        for position, strength in enumerate(fires(pattern, X)):
            for i, number in enumerate(W2[unit]):
                out[position][i] += strength * number
    return out


def softmax(rows):
    out = []
    for row in rows:
        powers = [math.exp(score - max(row)) for score in row]
        out.append([power / math.fsum(powers) for power in powers])
    return out


def attention_weights(Q, K, mask=None):
    """A masked key is left out of the sum altogether, with no infinity in sight."""
    out = []
    for i, query in enumerate(Q):
        read = [j for j in range(len(K)) if mask is None or mask[i][j]]
        (weights,) = softmax([[dot(query, K[j]) / math.sqrt(len(query)) for j in read]])
        found = dict(zip(read, weights, strict=True))
        out.append([found.get(j, 0.0) for j in range(len(K))])
    return out


def head(X, W_Q, W_K, W_V, mask=None):
    A = attention_weights(times(X, W_Q), times(X, W_K), mask)
    return times(A, times(X, W_V))


def multi_head_attention(X, W_Q, W_K, W_V, W_O, mask=None):
    """Head by head, each through its own rows of W_O, added up: nothing is merged."""
    out = [[0.0] * len(W_O[0]) for _ in X]
    width = len(W_V[0][0])
    for h in range(len(W_Q)):
        gathered = head(X, W_Q[h], W_K[h], W_V[h], mask)
        out = plus(out, times(gathered, W_O[h * width : (h + 1) * width]))
    return out


def layer_norm(X, gamma=None, beta=None, eps=1e-5):
    out = []
    for row in X:
        mean = math.fsum(row) / len(row)
        var = math.fsum((a - mean) ** 2 for a in row) / len(row)
        tidy = [(a - mean) / math.sqrt(var + eps) for a in row]
        tidy = [a * g for a, g in zip(tidy, gamma or [1.0] * len(row), strict=True)]
        out.append([a + b for a, b in zip(tidy, beta or [0.0] * len(row), strict=True)])
    return out


def block(X, attn, ffn, ln_1, ln_2, mask=None):
    Z = plus(X, multi_head_attention(layer_norm(X, *ln_1), *attn, mask))
    return plus(Z, feed_forward(layer_norm(Z, *ln_2), *ffn))


def storey(z, W, rule):
    if rule == "replace":
        return times(z, W)
    if rule == "add":
        return plus(z, times(z, W))
    if rule == "post_norm":
        return layer_norm(plus(z, times(z, W)))
    return plus(z, times(layer_norm(z), W))


def size(z):
    numbers = [a for row in z for a in row]
    return math.sqrt(math.fsum(a * a for a in numbers) / len(numbers))


def run_stack(z, storeys, rule):
    sizes = [size(z)]
    for W in storeys:
        z = storey(z, W, rule)
        sizes.append(size(z))
    return sizes


def slope_back(storeys, rule, z, step=1e-5):
    """By nudging every number that a storey receives, up and down, and measuring."""
    out = []
    for s, W in enumerate(storeys):
        squares = []
        for row in z:
            for i in range(len(row)):
                tops = []
                for nudge in (step, -step):
                    top = [[a + nudge * (j == i) for j, a in enumerate(row)]]
                    for later in storeys[s:]:
                        top = storey(top, later, rule)
                    tops.append(top[0])
                moved = [
                    (up - down) / (2 * step) for up, down in zip(*tops, strict=True)
                ]
                squares.append(dot(moved, moved))
        out.append(math.sqrt(math.fsum(squares) / len(squares)))
        z = storey(z, W, rule)
    return out
