import tempfile
import unittest
from datetime import date
from pathlib import Path

from ledger import importer, money, report
from ledger.journal import Entry, Journal, Posting


class Money(unittest.TestCase):
    def test_parses_thousands(self):
        self.assertEqual(money.parse("1,250.00"), 125000)

    def test_shows_negative(self):
        self.assertEqual(money.show(-125005), "-1,250.05")

    def test_splits_evenly(self):
        self.assertEqual(money.split(900, 3), [300, 300, 300])


class Journals(unittest.TestCase):
    def test_refuses_unbalanced_entry(self):
        with self.assertRaises(ValueError):
            Entry(date(2024, 1, 1), "x", (Posting("a", 1), Posting("b", 1)))

    def test_balance(self):
        journal = Journal([Entry(date(2024, 1, 1), "x", (Posting("a", 5), Posting("b", -5)))])
        self.assertEqual(journal.balance("a"), 5)


class Import(unittest.TestCase):
    def test_reads_plain_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.csv")
            path.write_text("day,text,amount,account\n2024-03-31,fees,12.50,income:fees\n", encoding="utf-8")
            journal = importer.read(path)
        self.assertEqual(journal.balance("assets:bank"), 1250)
        self.assertIn("12.50", report.income(journal, 2024, 3))


class Reports(unittest.TestCase):
    def setUp(self):
        def entry(day, *postings):
            return Entry(day, "x", tuple(Posting(account, cents) for account, cents in postings))

        self.journal = Journal(
            [
                entry(date(2024, 2, 29), ("assets:bank", 1000), ("income:fees", -1000)),
                entry(date(2024, 2, 1), ("assets:bank", -300), ("expenses:rent", 300)),
                entry(date(2024, 3, 1), ("assets:bank", 5), ("income:fees", -5)),
            ]
        )

    def lines(self, text):
        return [line.split() for line in text.splitlines()]

    def test_income(self):
        self.assertEqual(
            self.lines(report.income(self.journal, 2024, 2)), [["income:fees", "10.00"], ["total", "10.00"]]
        )

    def test_expenses(self):
        self.assertEqual(
            self.lines(report.expenses(self.journal, 2024, 2)), [["expenses:rent", "3.00"], ["total", "3.00"]]
        )

    def test_transfers(self):
        self.assertEqual(
            self.lines(report.transfers(self.journal, 2024, 2)), [["assets:bank", "7.00"], ["total", "7.00"]]
        )

    def test_columns_line_up(self):
        self.assertEqual({len(line) for line in report.income(self.journal, 2024, 2).splitlines()}, {45})

    def test_the_month_is_worked_out_in_one_place(self):
        source = Path(report.__file__).read_text(encoding="utf-8")
        self.assertEqual(source.count("monthrange("), 1)
        self.assertEqual(source.count(".between("), 1)


if __name__ == "__main__":
    unittest.main()
