"""How are the templates of reports filled? A missing value is an error, and HTML pages escape all values."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.compare import sentences, wording
from locobench.shared.installation import HARNESS


def template_environment(*, is_page: bool) -> Environment:
    """Return an environment with the templates, `wording` and `sentences`.

    Args:
        is_page: True for HTML; False for Markdown, where names go through the filter `cell`.
    """
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=is_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not is_page,
    )
    environment.globals["wording"] = wording
    environment.globals["sentences"] = sentences
    environment.globals["harness"] = HARNESS
    return environment
