"""Turn a matplotlib figure into an inline <svg> with the colours and fonts of the surrounding page."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping

import matplotlib.style
from markupsafe import Markup, escape
from matplotlib.figure import Figure

# "default" undoes a matplotlibrc. Text stays text, in the page's own font, and a $ in it is a dollar. The salt makes
# ids repeatable. Path simplification would merge a scatter's dots, which are strokes of zero length, into one point.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "page", "path.simplify": False, "text.parse_math": False}

TAG = re.compile(r"<[^>]*>")


@contextlib.contextmanager
def page_style() -> Iterator[None]:
    """Draw and write figures inside this block: they look the same whatever this machine's matplotlib settings."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def stand_ins(*styles: str) -> dict[str, str]:
    """Assign each CSS colour, such as `var(--ink)`, a placeholder that matplotlib can draw with.

    Returns:
        Placeholder -> CSS colour, in the order given; `inline_svg` swaps the CSS colours back in.
    """
    return {f"#{number:06x}": style for number, style in enumerate(styles, start=1)}


def inline_svg(figure: Figure, name: str, colours: Mapping[str, str], *, label: str = "") -> Markup:
    """Return the figure as an <svg> element; the same figure gives the same text.

    Args:
        figure: drawn inside `page_style`.
        name: prefix for the figure's ids, so that a page can hold several figures.
        colours: the result of `stand_ins`.
        label: text for screen readers; without it the figure is hidden from them.
    """
    stream = io.StringIO()
    figure.savefig(
        stream, format="svg", transparent=True, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
    )
    drawing = stream.getvalue()
    box = re.search(r'viewBox="([^"]+)"', drawing)
    assert box is not None
    inner = drawing[drawing.index(">", box.end()) + 1 :]
    # Only tags are edited: text in the figure may look like a colour, an id or a number.
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
