import unittest

from shelf.app import App
from shelf.http import Request
from shelf.limits import Limiter
from shelf.store import Store

LIBRARIAN = {"authorization": "Bearer librarian-token"}


class Service(unittest.TestCase):
    def setUp(self):
        self.app = App(Store())

    def test_librarian_adds_a_book(self):
        answer = self.app.handle(Request("POST", "/books", LIBRARIAN, body={"title": "t", "author": "a"}, client="1"))
        self.assertEqual(answer.status, 201)

    def test_wrong_token_may_not_add_a_book(self):
        headers = {"authorization": "Bearer nonsense"}
        answer = self.app.handle(Request("POST", "/books", headers, body={"title": "t", "author": "a"}, client="2"))
        self.assertEqual(answer.status, 403)

    def test_unknown_page(self):
        self.assertEqual(self.app.handle(Request("GET", "/nothing", client="3")).status, 404)

    def test_two_apps_share_nothing(self):
        other = App(Store())
        self.app.handle(Request("POST", "/books", LIBRARIAN, body={"title": "t", "author": "a"}))
        self.assertEqual(other.handle(Request("GET", "/books", query={"page": "0"})).body["books"], [])

    def test_limits_are_per_app(self):
        for _ in range(100):
            self.app.handle(Request("GET", "/books", client="busy"))
        self.assertEqual(self.app.handle(Request("GET", "/books", client="busy")).status, 429)
        self.assertEqual(App(Store()).handle(Request("GET", "/books", client="busy")).status, 200)

    def test_lends_and_takes_back(self):
        self.app.handle(Request("POST", "/books", LIBRARIAN, body={"title": "t", "author": "a"}))
        loan = {"book": 1, "member": "m"}
        requests = [
            Request("POST", "/loans", LIBRARIAN, body=loan),
            Request("POST", "/loans", LIBRARIAN, body=loan),
            Request("DELETE", "/loans", LIBRARIAN, body=loan),
            Request("DELETE", "/loans", LIBRARIAN, body=loan),
        ]
        self.assertEqual([self.app.handle(r).status for r in requests], [201, 409, 200, 404])


class Limits(unittest.TestCase):
    def test_refuses_above_the_limit(self):
        limiter = Limiter(2, 10.0)
        self.assertEqual([limiter.allow("c", t) for t in (0.0, 1.0, 2.0, 10.5)], [True, True, False, True])


if __name__ == "__main__":
    unittest.main()
