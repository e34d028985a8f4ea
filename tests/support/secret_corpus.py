"""How many made secrets are redacted, and how many harmless lines touched? Measured over tests/fixtures/secrets."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from locobench.shared.files import write_whole
from measure.secrets.redaction import redact_text

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fixtures" / "secrets"
PAGE = ROOT / "docs" / "TRUST.md"
BEGIN, END = "<!-- secrets: begin -->", "<!-- secrets: end -->"


def secret_lines() -> list[tuple[str, str]]:
    """Text and the secret in it; in the file « and » enclose it, and ¦ splits it so that scanners stay quiet."""
    lines = (CORPUS / "secrets.txt").read_text(encoding="utf-8").replace("¦", "")
    found = []
    for line in lines.splitlines():
        marked = line.replace("\\n", "\n")
        secret = marked[marked.index("«") + 1 : marked.index("»")]
        found.append((marked.replace("«", "").replace("»", ""), secret))
    return found


def harmless_lines() -> list[str]:
    """Lines that look as if they held a secret, and hold none."""
    return (CORPUS / "harmless.txt").read_text(encoding="utf-8").splitlines()


def missed() -> list[str]:
    """The texts of which the secret, or a third of it, is still there."""
    out = []
    for text, secret in secret_lines():
        clean, piece = redact_text(text), max(6, len(secret) // 3)
        if any(secret[i : i + piece] in clean for i in range(max(1, len(secret) - piece + 1))):
            out.append(text)
    return out


def touched() -> list[str]:
    """The harmless lines that do not come back as they were."""
    return [line for line in harmless_lines() if redact_text(line) != line]


def megabytes_per_second() -> float:
    """Speed over this repository's own sources, in MB (10^6 characters) a second."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "harness").rglob("*.py")))
    text = (text * (1 + 1_000_000 // len(text)))[:1_000_000]
    start = time.perf_counter()
    redact_text(text)
    return len(text) / 1e6 / (time.perf_counter() - start)


def figures() -> str:
    """The paragraph for docs/TRUST.md."""
    secrets, harmless = len(secret_lines()), len(harmless_lines())
    return (
        f"{secrets - len(missed())} of {secrets} made secrets are redacted, and {len(touched())} of {harmless} "
        f"harmless lines touched, at about {megabytes_per_second():.0f} MB a second."
    )


def main() -> None:
    """Write the figures into docs/TRUST.md, between their markers."""
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    write_whole(PAGE, f"{before}{BEGIN}\n{figures()}\n{END}{after}")
    sys.stdout.write(figures() + "\n")


if __name__ == "__main__":
    main()
