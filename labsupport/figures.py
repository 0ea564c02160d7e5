"""Still pictures: each function returns one matplotlib Figure, and words for it.

No pyplot: a figure shows once, where its cell ends, and nothing keeps it alive.
"""

from __future__ import annotations

import io

import matplotlib.style
from matplotlib.figure import Figure

# Three colours and black, apart in lightness as well as hue, so that they hold in
# greyscale and for the common colour-vision deficiencies. None is told by colour
# alone: a thing keeps its line style and marker too, in all six notebooks.
NAVY, RUST, SKY, BLACK = "#1f2a6e", "#b5400e", "#3a9fc4", "#000000"
LOOK = {
    "evidence": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "pattern": {"color": RUST, "linestyle": "--", "marker": "^"},
    "contribution": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "replace": {"color": RUST, "linestyle": "--", "marker": "v"},
    "add": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "post_norm": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "pre_norm": {"color": BLACK, "linestyle": ":", "marker": "D"},
}
CSS_DPI = 100


class Still(Figure):
    """A figure that shows itself once, sharp on any screen, with its words beside it.

    `words` says what the picture shows, computed from what is drawn: it is the
    output's plain text and the picture's alternative text.
    """

    words = "A figure"

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=2 * CSS_DPI)
        width, height = (round(inches * CSS_DPI) for inches in self.get_size_inches())
        shown = {"width": width, "height": height, "alt": self.words}
        data = {"image/png": buffer.getvalue(), "text/plain": self.words}
        return data, {"image/png": shown}


def new_figure(width: float = 7.2, height: float = 3.6) -> Still:
    """Return an empty figure in the lab's look; sizes in inches of 100 CSS pixels."""
    with matplotlib.style.context("labsupport.lab"):
        return Still(figsize=(width, height))
