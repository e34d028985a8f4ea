"""Bank statements: CSV lines `day,text,amount,account` become entries against the bank account."""

import csv
import io
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from ledger import money
from ledger.journal import Entry, Journal, Posting

BANK = "assets:bank"


def read(path: Path) -> Journal:
    """Journal of a CSV file with a header line."""
    journal = Journal()
    for day, text, amount, account in _rows(path.read_text(encoding="utf-8")):
        cents = money.parse(amount)
        journal.add(
            Entry(
                day=date.fromisoformat(day),
                text=text,
                postings=(Posting(BANK, cents), Posting(account, -cents)),
            )
        )
    return journal


def _rows(content: str) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(content), skipinitialspace=True)
    next(rows, None)
    for row in rows:
        if any(part.strip() for part in row):
            yield [part.strip() for part in row]
