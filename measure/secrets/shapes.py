"""The shapes of secrets: the prefixes of well-known services' tokens, and a few others."""

from __future__ import annotations

import re

_OF_LETTERS = """
    ghp_ gho_ ghu_ ghs_ ghr_ npm_ rubygems_ AKCp hf_ gsk_ r8_ xai- pplx- lin_api_ ntn_ secret_ NRAK- phx_ pul- sbp_
    shpat_ shpca_ shppa_ shpss_ dop_v1_ doo_v1_ dor_v1_ AGE-SECRET-KEY- dapi key- sk_live_ sk_test_ rk_live_ rk_test_
"""
_OF_SIGNS = """
    sk- whsec_ github_pat_ glpat- gldt- glrt- ABSK AIza ya29. GOCSPX- xapp- xoxb- xoxp- xoxa- pypi- tvly- nvapi-
    lsv2_pt_ lsv2_sk_ pcsk_ glsa_ hvs. dckr_pat_ dckr_oat_ ATATT3x sntrys_ sntryu_ ops_ figd_ SG. _authToken=
"""
TOKENS = tuple(
    re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, begins.split()))})(?:{rest}|[A-Za-z]{{30,}})")
    for begins, rest in (
        (_OF_LETTERS, "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{12,}"),
        (_OF_SIGNS, "(?=[A-Za-z_.=+/-]*[0-9])[A-Za-z0-9_.=+/-]{16,}"),
    )
)
"""Prefixes of tokens, and how they continue: with a digit among letters (and signs), or with 30 letters."""

LONG = re.compile(r"[A-Za-z0-9_.=+/-]{15,}")
"""Matches a word that could hold one of TOKENS; only such words are searched for them, not the whole text."""

SHAPES = tuple(
    (needle, re.compile(shape))
    for needle, shape in (
        ("A", r"(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # JSON web tokens
        ("PRIVATE KEY", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)"),
        # https://user:password@host, or a long user alone; a reference to a variable is no password
        ("://", r"(?<=://)(?:[^\s/:@\"'<>{}]*:(?!\$\{?\w+\}?@)[^\s/@\"']+|[^\s/:@\"'<>{}$]{12,})(?=@)"),
        (
            "uthorization",
            r"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:[A-Za-z]+\s+)?(?![A-Za-z.]*[\"']?\s*$)"
            r"[A-Za-z0-9._~+/=-]{8,}(?![\w(.\[])",
        ),
        ("earer", r"[Bb]earer\s+(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{8,}"),
    )
)
"""A string that every secret of a shape contains, and the pattern, which begins with no `\\b`: it would be slow."""


def replace_shapes(text: str, placeholder: str) -> str:
    """Replace everything that has the shape of a secret with a placeholder."""
    words = "\n".join(LONG.findall(text))
    for token in TOKENS:
        if token.search(words):
            text = token.sub(placeholder, text)
    for needle, shape in SHAPES:
        if needle in text:
            text = shape.sub(placeholder, text)
    return text
