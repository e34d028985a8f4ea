"""How a matplotlib figure becomes an inline <svg> that takes the colours and fonts of the page around it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping

import matplotlib.style
from markupsafe import Markup, escape
from matplotlib.figure import Figure

# "default" undoes a matplotlibrc. Text stays text, in the page's own font, and a $ in it is a dollar. The salt makes
# ids repeatable. Simplifying would take a scatter's dots, drawn as strokes of no length, for one point.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "page", "path.simplify": False, "text.parse_math": False}

TAG = re.compile(r"<[^>]*>")


@contextlib.contextmanager
def page_style() -> Iterator[None]:
    """Draw and write figures in here: they look the same whatever this machine's matplotlib is set to."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def stand_ins(*styles: str) -> dict[str, str]:
    """Give each CSS colour, such as `var(--ink)`, a colour that matplotlib can draw with.

    Returns:
        Colour to draw with -> CSS colour, in the order given; `inline_svg` puts the one in place of the other.
    """
    return {f"#{number:06x}": style for number, style in enumerate(styles, start=1)}


def inline_svg(figure: Figure, name: str, colours: Mapping[str, str], *, label: str = "") -> Markup:
    """Return the figure as an <svg> element; the same figure gives the same text.

    Args:
        figure: drawn inside `page_style`.
        name: of the figure in its page; put before its ids, so that a page can hold several figures.
        colours: what `stand_ins` gave.
        label: what it shows, for those who cannot see it; without one it is hidden from them.
    """
    stream = io.StringIO()
    figure.savefig(
        stream, format="svg", transparent=True, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
    )
    drawing = stream.getvalue()
    box = re.search(r'viewBox="([^"]+)"', drawing)
    assert box is not None
    inner = drawing[drawing.index(">", box.end()) + 1 :]
    # Only tags are edited: a name that is drawn may look like a colour, an id or a number.
    inner = TAG.sub(lambda tag: _for_page(tag[0], name, colours), inner)
    inner = re.sub(r"\n\s+", "\n", inner)
    role = Markup('role="img" aria-label="{}"').format(escape(label)) if label else Markup('aria-hidden="true"')
    return Markup(f'<svg viewBox="{box[1]}" {role}>{inner.strip()}')


def _for_page(tag: str, name: str, colours: Mapping[str, str]) -> str:
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", tag)
    tag = re.sub(r"(?<!opacity: 0)(\.\d)\d+", r"\1", tag)  # a tenth of a point is finer than any screen
    for drawn, style in colours.items():
        tag = tag.replace(drawn, style)
    return tag
