import json
import unittest
from pathlib import Path


class Answer(unittest.TestCase):
    def setUp(self):
        self.answer = json.loads(Path("answer.json").read_text(encoding="utf-8"))

    def test_functions_that_depend_on_parsing(self):
        self.assertEqual(set(self.answer["depend_on_parse"]), {"ledger.importer.read", "ledger.cli.main"})

    def test_where_an_unbalanced_entry_is_refused(self):
        self.assertEqual(self.answer["refuses_unbalanced"], "ledger.journal.Entry.__post_init__")

    def test_reports_nobody_calls(self):
        self.assertEqual(self.answer["reports_not_in_cli"], ["ledger.report.transfers"])
