"""Reports over a month: income, expenses and transfers by account."""

import calendar
from datetime import date

from ledger import money
from ledger.journal import Journal


def income(journal: Journal, year: int, month: int) -> str:
    """Income accounts of a month, one line each, with a total."""
    return _by_account(journal, year, month, "income:", -1)


def expenses(journal: Journal, year: int, month: int) -> str:
    """Expense accounts of a month, one line each, with a total."""
    return _by_account(journal, year, month, "expenses:", 1)


def transfers(journal: Journal, year: int, month: int) -> str:
    """Asset accounts of a month, one line each, with a total."""
    return _by_account(journal, year, month, "assets:", 1)


def _by_account(journal: Journal, year: int, month: int, prefix: str, sign: int) -> str:
    first = date(year, month, 1)
    last = date(year, month, calendar.monthrange(year, month)[1])
    sums: dict[str, int] = {}
    for entry in journal.between(first, last):
        for posting in entry.postings:
            if posting.account.startswith(prefix):
                sums[posting.account] = sums.get(posting.account, 0) + sign * posting.cents
    lines = [_line(account, sums[account]) for account in sorted(sums)]
    return "\n".join([*lines, _line("total", sum(sums.values()))])


def _line(name: str, cents: int) -> str:
    return f"{name:<30}{money.show(cents):>15}"
