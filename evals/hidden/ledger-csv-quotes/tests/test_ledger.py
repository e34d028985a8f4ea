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

    def read(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.csv")
            path.write_text("day,text,amount,account\n" + content, encoding="utf-8")
            return importer.read(path)

    def test_reads_quoted_commas(self):
        journal = self.read('2024-03-31,"paper, pens","-1,250.00",expenses:office\n')
        self.assertEqual(journal.balance("assets:bank"), -125000)
        self.assertEqual(journal.entries[0].text, "paper, pens")

    def test_reads_doubled_quotes(self):
        journal = self.read('2024-03-31,"the ""big"" one",1,income:fees\n')
        self.assertEqual(journal.entries[0].text, 'the "big" one')

    def test_reads_line_breaks_in_quotes(self):
        journal = self.read('2024-03-31,"two\nlines",1,income:fees\n2024-04-01,x,2,income:fees\n')
        self.assertEqual([entry.text for entry in journal.entries], ["two\nlines", "x"])

    def test_skips_empty_lines_and_spaces(self):
        journal = self.read('2024-03-31 , "a, b" , 1 , income:fees\n\n')
        self.assertEqual(journal.entries[0].text, "a, b")


if __name__ == "__main__":
    unittest.main()
