import unittest

from prices import total


class TestCents(unittest.TestCase):
    def test_totals_are_amounts_to_the_cent(self):
        self.assertEqual(total([0.1, 0.1, 0.1]), 0.3)
        self.assertEqual(total([19.99] * 3), 59.97)

    def test_nothing_costs_nothing(self):
        self.assertEqual(total([]), 0)
