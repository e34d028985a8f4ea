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

    def test_splits_the_rest_over_the_first_shares(self):
        self.assertEqual(money.split(100, 3), [34, 33, 33])

    def test_splits_negative_amounts_alike(self):
        self.assertEqual(money.split(-100, 3), [-34, -33, -33])

    def test_never_loses_a_cent(self):
        for cents in (-7, -1, 0, 1, 5, 99, 12345):
            for parts in range(1, 9):
                shares = money.split(cents, parts)
                self.assertEqual(sum(shares), cents)
                self.assertLessEqual(max(shares) - min(shares), 1)

    def test_refuses_no_parts(self):
        with self.assertRaises(ValueError):
            money.split(5, 0)


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


if __name__ == "__main__":
    unittest.main()
