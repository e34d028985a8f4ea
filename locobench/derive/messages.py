"""Judge a commit's message: whether it is suitable for a question, and which of its words one would grep for."""

from __future__ import annotations

import re

FEWEST_WORDS, FEWEST_IN_SUBJECT, MOST_LINES = 6, 4, 25
"""A message with fewer words, or a subject with fewer, states no purpose; one with more lines states several."""
STEM, SHORTEST_STEM = 5, 4
"""Letters of a word that are looked for in the code, to find it in another form, and the fewest that tell something."""

_ISSUE = r"(?:[\w.-]+/[\w.-]+)?(?:#|GH-)\d+"
# UTF-8 and RFC-822 look like a tracker's ids: these stand in brackets, before a colon or behind such a word at the end.
_TRACKED = r"(?-i:[A-Z]{2,}-\d+)"
_CLOSES = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|pr|issue)s?:?\s+"
_TRAILER = re.compile(
    r"^(?:(?:signed-off-by|co-authored-by|reviewed-by|change-id|pr-url|cc|git-svn-id)\b"
    rf"|(?:refs?|closes|fixes|see)\b:?\s+(?:{_ISSUE}|{_TRACKED}\W*$|https?:)).*$",
    re.I | re.M,
)
_REFERENCE = re.compile(
    rf"\s*\(?(?:{_CLOSES})?{_ISSUE}\)?|\s*[(\[](?:{_CLOSES})?{_TRACKED}[)\]]|^\s*{_TRACKED}:|\s*{_CLOSES}{_TRACKED}(?=\W*$)",
    re.I | re.M,
)
# A sentence in which an issue number or a link stands for a word; or one whose end was a link or a quotation.
_LEANING = re.compile(
    r"\b(in|of|by|as|to|for|from|with|see|per|after|since|than|like)\s+(?:[\w.-]+/[\w.-]+)?(?:\(?#\d|GH-\d|https?:)|^\W*$",
    re.I,
)
_LINK = re.compile(r"\S*https?://\S+")
_SECOND_PURPOSE = re.compile(r"^\s*[-*+]\s", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")

# Words that nobody greps for.
_PLAIN = frozenset(
    """
this that with from when into than then them they have been were will would should could also only more most some such
make makes made does done allow allows instead which where while there their about after before because
""".split()  # noqa: SIM905
)


def clean(text: str) -> str:
    """Return a commit's message without issue numbers, links and trailers."""
    text = _LINK.sub("", _TRAILER.sub("", text.replace("\r", "")))
    text = _REFERENCE.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.splitlines())).strip()


def why_unfit(message: str, whole: str) -> str:
    """Return why a message is unsuitable for a question, or "" if it is suitable.

    Args:
        message: the result of `clean`.
        whole: the original message.
    """
    subject = message.partition("\n")[0]
    if len(_WORD.findall(message)) < FEWEST_WORDS or len(_WORD.findall(subject)) < FEWEST_IN_SUBJECT:
        return "too short a message"
    if _LEANING.search(whole) or message.endswith(":"):
        return "cannot be understood without its issue"
    lines = message.count("\n") + 1
    if lines > MOST_LINES or len(_SECOND_PURPOSE.findall(message)) > 1:
        return "more than one purpose"
    if any(ord(char) > 0x2FF for char in subject) or "```" in message:
        return "not plain English"
    return ""


def names_part(message: str, part: str) -> bool:
    """Return whether a message names a part of the answer, ignoring case; a name inside another counts, too."""
    low, name = message.lower(), part.lower()
    if name in {word.lower() for word in _WORD.findall(message)}:
        return True
    codes = [word.lower() for word in _WORD.findall(message) if "_" in word or re.search(r"[a-z][A-Z]", word)]
    return (
        any(len(word) > 4 and len(name) > 4 and (word in name or name in word) for word in codes) or f"{name}(" in low
    )


def is_about(message: str, text: str) -> bool:
    """Return whether a word of a message begins a word of a text or stands in it, as far as its first letters."""
    low = text.lower()
    stems = {word.lower().removesuffix("s")[:STEM] for word in words_to_grep(message)}
    return any(stem in low for stem in stems if len(stem) >= SHORTEST_STEM)


def words_to_grep(message: str) -> set[str]:
    """Return the words of a message that one would grep for."""
    return {word for word in _WORD.findall(message) if len(word) > 3 and word.lower() not in _PLAIN}
