"""Tests of TollKeeper: plain unittest, no network, no waiting."""

import io
import json
import tempfile
import unittest
from pathlib import Path

from tollkeeper import DEFAULT_PLANS, InvalidKey, Keyring, Plan, QuotaService, Store
from tollkeeper.http_api import Application
from tollkeeper.limiter import SlidingWindow, TokenBucket
from tollkeeper.plans import PlanError, parse_plans

SECRET = "a-secret-for-tests-only"
START = 1_700_000_040.0


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def call(app, method, route, body=None, **environ):
    raw = json.dumps(body).encode() if body is not None else b""
    path, _, query = route.partition("?")
    answer = {}

    def start_response(status, headers):
        answer.update(status=int(status.split()[0]), headers=dict(headers))

    environ |= {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "REMOTE_ADDR": "192.0.2.7"}
    environ |= {"CONTENT_LENGTH": str(len(raw)), "wsgi.input": io.BytesIO(raw)}
    chunks = app(environ, start_response)
    return answer["status"], json.loads(b"".join(chunks)), answer["headers"]


class LimiterTest(unittest.TestCase):
    def test_a_bucket_gives_what_it_holds_and_no_more(self):
        bucket = TokenBucket(10, 2.0, START)
        self.assertTrue(bucket.try_take(10, START))
        self.assertFalse(bucket.try_take(1, START))

    def test_a_bucket_refills_up_to_its_capacity(self):
        bucket = TokenBucket(10, 2.0, START)
        bucket.try_take(10, START)
        self.assertEqual(bucket.available(START + 3), 6)
        self.assertEqual(bucket.available(START + 300), 10)

    def test_retry_after_is_the_time_the_missing_units_take(self):
        bucket = TokenBucket(10, 2.0, START)
        bucket.try_take(10, START)
        self.assertEqual(bucket.retry_after(5, START), 3)

    def test_an_idle_window_forgets(self):
        window = SlidingWindow(10, 60)
        self.assertTrue(window.try_add(10, START))
        self.assertFalse(window.try_add(1, START))
        self.assertTrue(window.try_add(10, START + 180))


class KeyringTest(unittest.TestCase):
    def test_an_issued_key_verifies(self):
        ring = Keyring(SECRET)
        self.assertEqual(ring.verify(ring.issue("acme", "team")).tenant, "acme")

    def test_another_tenants_name_breaks_the_signature(self):
        ring = Keyring(SECRET)
        with self.assertRaises(InvalidKey):
            ring.verify(ring.issue("acme", "team").replace("acme", "apex"))

    def test_a_revoked_key_is_refused(self):
        ring = Keyring(SECRET)
        key = ring.issue("acme", "team")
        ring.revoke(key)
        with self.assertRaises(InvalidKey):
            ring.verify(key)


class PlanTest(unittest.TestCase):
    def test_an_unknown_field_is_named(self):
        with self.assertRaisesRegex(PlanError, "colour"):
            parse_plans({"plans": {"free": {"colour": 1}}})


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.store = Store()
        self.plans = dict(DEFAULT_PLANS, tiny=Plan("tiny", 100.0, 100, 1000, 60, 30))
        self.service = QuotaService(self.plans, self.store, self.clock)

    def test_a_search_costs_five_units(self):
        decision = self.service.check("acme", "team", "GET", "/v1/search")
        self.assertEqual((decision.allowed, decision.remaining), (True, 199_995))

    def test_the_month_ends_the_supply(self):
        self.assertTrue(self.service.check("acme", "tiny", "POST", "/v1/reports").allowed)
        refused = self.service.check("acme", "tiny", "POST", "/v1/reports")
        self.assertEqual((refused.allowed, refused.reason, refused.remaining), (False, "monthly_quota", 5))

    def test_usage_survives_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "usage.json"
            first = QuotaService(self.plans, Store(path), self.clock)
            first.check("acme", "team", "GET", "/v1/search")
            first.store.save()
            second = QuotaService(self.plans, Store(path), self.clock)
            self.assertEqual(second.usage_report("acme", "team")["used"], 5)


class HttpTest(unittest.TestCase):
    def setUp(self):
        self.keyring = Keyring(SECRET)
        service = QuotaService(DEFAULT_PLANS, Store(), Clock())
        self.app = Application(service, self.keyring, admin_token="let-me-in")

    def test_an_allowed_call_carries_the_quota_headers(self):
        key = self.keyring.issue("acme", "team")
        body = {"method": "GET", "path": "/v1/search"}
        status, _, headers = call(self.app, "POST", "/check", body, HTTP_AUTHORIZATION=f"Bearer {key}")
        self.assertEqual((status, headers["X-Quota-Cost"], headers["X-Quota-Remaining"]), (200, "5", "199995"))

    def test_a_burst_of_anonymous_calls_ends_in_429(self):
        body = {"method": "POST", "path": "/v1/reports"}
        self.assertEqual(call(self.app, "POST", "/check", body)[0], 200)
        status, document, headers = call(self.app, "POST", "/check", body)
        self.assertEqual((status, document["reason"]), (429, "window_limit"))
        self.assertGreater(int(headers["Retry-After"]), 0)

    def test_admin_routes_need_the_token(self):
        self.assertEqual(call(self.app, "POST", "/admin/reset?tenant=acme")[0], 403)

    def test_a_forged_key_is_unauthorized(self):
        self.assertEqual(call(self.app, "GET", "/usage", HTTP_AUTHORIZATION="Bearer tk.a.b.c")[0], 401)


if __name__ == "__main__":
    unittest.main()