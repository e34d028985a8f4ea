import unittest

from prices import discounted


class TestDiscount(unittest.TestCase):
    def test_the_percentage_is_taken_off(self):
        self.assertEqual(discounted(19.99, 10), 17.99)
        self.assertEqual(discounted(5.0, 0), 5.0)
        self.assertEqual(discounted(5.0, 100), 0)

    def test_percentages_outside_of_0_to_100_are_refused(self):
        for percent in (-1, 101):
            with self.assertRaises(ValueError):
                discounted(1.0, percent)
