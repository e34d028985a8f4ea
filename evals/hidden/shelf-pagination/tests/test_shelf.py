import unittest

from shelf import store
from shelf.app import handle
from shelf.http import Request
from shelf.limits import Limiter

LIBRARIAN = {"authorization": "Bearer librarian-token"}


class Service(unittest.TestCase):
    def setUp(self):
        store.reset()

    def test_librarian_adds_a_book(self):
        answer = handle(Request("POST", "/books", LIBRARIAN, body={"title": "t", "author": "a"}, client="1"))
        self.assertEqual(answer.status, 201)

    def test_wrong_token_may_not_add_a_book(self):
        headers = {"authorization": "Bearer nonsense"}
        answer = handle(Request("POST", "/books", headers, body={"title": "t", "author": "a"}, client="2"))
        self.assertEqual(answer.status, 403)

    def test_unknown_page(self):
        self.assertEqual(handle(Request("GET", "/nothing", client="3")).status, 404)

    def page(self, **query):
        return handle(Request("GET", "/books", query=query, client="page"))

    def test_first_page_starts_with_the_first_book(self):
        for number in range(1, 24):
            store.add_book(f"t{number}", "a")
        self.assertEqual([b["id"] for b in self.page().body["books"]], list(range(1, 11)))
        self.assertEqual([b["id"] for b in self.page(page="3").body["books"]], [21, 22, 23])
        self.assertEqual(self.page(page="4").body["books"], [])

    def test_pages_counts_a_page_that_is_not_full(self):
        for count, pages in ((0, 0), (10, 1), (11, 2)):
            store.reset()
            for _ in range(count):
                store.add_book("t", "a")
            self.assertEqual(self.page().body["pages"], pages)

    def test_refuses_what_is_no_page(self):
        for query in (
            {"page": "0"},
            {"page": "-1"},
            {"page": "x"},
            {"size": "0"},
            {"size": "51"},
            {"size": ""},
        ):
            self.assertEqual(self.page(**query).status, 400, query)


class Limits(unittest.TestCase):
    def test_refuses_above_the_limit(self):
        limiter = Limiter(2, 10.0)
        self.assertEqual([limiter.allow("c", t) for t in (0.0, 1.0, 2.0, 10.5)], [True, True, False, True])


if __name__ == "__main__":
    unittest.main()
