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

    def post(self, header, path="/books"):
        headers = {} if header is None else {"authorization": header}
        body = {"title": "t", "author": "a", "book": 99, "member": "m"}
        return handle(Request("POST", path, headers, body=body, client=repr(header))).status

    def test_nobody_is_a_member_without_a_token(self):
        for header in (None, "", "Bearer", "Bearer ", "Bearer  "):
            self.assertEqual(self.post(header, "/loans"), 403, header)

    def test_the_start_of_a_token_is_no_token(self):
        for header in ("Bearer m", "Bearer librarian-toke", "Bearer l"):
            self.assertEqual(self.post(header), 403, header)
            self.assertEqual(self.post(header, "/loans"), 403, header)

    def test_another_scheme_is_no_token(self):
        self.assertEqual(self.post("Basic librarian-token"), 403)
        self.assertEqual(self.post("librarian-token"), 403)

    def test_tokens_outside_ascii_are_refused_quietly(self):
        self.assertEqual(self.post("Bearer l\u00efbrarian"), 403)

    def test_members_lend_and_may_not_add_books(self):
        self.assertEqual(self.post("Bearer member-token", "/loans"), 404)
        self.assertEqual(self.post("Bearer member-token"), 403)


class Limits(unittest.TestCase):
    def test_refuses_above_the_limit(self):
        limiter = Limiter(2, 10.0)
        self.assertEqual([limiter.allow("c", t) for t in (0.0, 1.0, 2.0, 10.5)], [True, True, False, True])


if __name__ == "__main__":
    unittest.main()
