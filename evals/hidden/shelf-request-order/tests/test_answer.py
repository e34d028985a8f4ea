import json
import unittest
from pathlib import Path


class Answer(unittest.TestCase):
    def setUp(self):
        self.answer = json.loads(Path("answer.json").read_text(encoding="utf-8"))

    def test_order_of_the_checks(self):
        self.assertEqual(self.answer["checks_in_order"], ["limit", "rights", "route"])

    def test_status_of_a_forbidden_unknown_page(self):
        self.assertEqual(self.answer["status_put_unknown_page_wrong_token"], 403)

    def test_whether_refused_requests_count(self):
        self.assertIs(self.answer["refused_by_limit_counts_towards_limit"], False)

    def test_state_outside_of_objects(self):
        expected = {"shelf.app.LIMITER", "shelf.store.BOOKS", "shelf.store.LOANS"}
        self.assertEqual(set(self.answer["mutable_module_state"]), expected)
