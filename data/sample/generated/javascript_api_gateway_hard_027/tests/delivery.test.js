'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Router } = require('../gateway/router');
const { Store, topicMatches } = require('../shared/store');
const { sign, verify } = require('../shared/signature');
const { CircuitBreaker } = require('../workers/circuit');
const { Dispatcher } = require('../workers/dispatcher');
const { nextDelayMs, isRetryable } = require('../workers/retry');

function setUp(answers = []) {
  const clock = { ms: 1_700_000_000_000 };
  const now = () => clock.ms;
  const sent = [];
  const transport = async (request) => {
    sent.push(request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return answer || { status: 200, body: 'ok' };
  };
  const store = new Store({ now });
  const breaker = new CircuitBreaker({ now });
  const router = new Router({ store, breaker, now });
  const dispatcher = new Dispatcher({ store, breaker, transport, now });
  const call = (method, path, body, headers = {}) =>
    router.handle({
      method,
      path,
      headers: { 'x-api-key': 'key-acme-7f31', ...headers },
      body: body === undefined ? '' : JSON.stringify(body),
    });
  const subscribe = () => call('POST', '/subscriptions', { url: 'https://acme.example/hooks', topics: ['order.*'] }).body;
  return { clock, sent, store, breaker, dispatcher, call, subscribe };
}

test('an unknown API key is refused', () => {
  const { call } = setUp();
  assert.equal(call('GET', '/subscriptions', undefined, { 'x-api-key': 'guess' }).status, 401);
});

test('a subscription needs topics and an http URL', () => {
  const { call } = setUp();
  assert.equal(call('POST', '/subscriptions', { url: 'ftp://acme.example', topics: ['order.paid'] }).status, 422);
  assert.equal(call('POST', '/subscriptions', { url: 'https://acme.example', topics: [] }).status, 422);
});

test('the list does not show secrets', () => {
  const { call, subscribe } = setUp();
  subscribe();
  const [item] = call('GET', '/subscriptions').body.items;
  assert.equal(item.id, 'sub_1');
  assert.equal('secret' in item, false);
});

test('another tenant cannot delete a subscription', () => {
  const { call, subscribe } = setUp();
  const { id } = subscribe();
  assert.equal(call('DELETE', `/subscriptions/${id}`, undefined, { 'x-api-key': 'key-birch-22c9' }).status, 404);
});

test('topics match exactly or below a prefix', () => {
  assert.equal(topicMatches('order.paid', 'order.paid'), true);
  assert.equal(topicMatches('order.*', 'order.paid'), true);
  assert.equal(topicMatches('order.*', 'orders.paid'), false);
});

test('an event is delivered once, signed', async () => {
  const { call, subscribe, dispatcher, sent, store, clock } = setUp();
  const { secret } = subscribe();
  assert.equal(call('POST', '/events', { topic: 'order.paid', payload: { total: 5 } }).status, 202);
  assert.equal(await dispatcher.tick(), 1);
  assert.equal(await dispatcher.tick(), 0);
  assert.equal(store.deliveries.get('dlv_1').status, 'delivered');
  const [request] = sent;
  const nowSec = clock.ms / 1000;
  assert.deepEqual(verify(secret, request.headers['x-hook-signature'], request.body, { nowSec }), { ok: true });
});

test('the same idempotency key returns the first event', () => {
  const { call, subscribe, store } = setUp();
  subscribe();
  const headers = { 'idempotency-key': 'k1' };
  const first = call('POST', '/events', { topic: 'order.paid' }, headers);
  const second = call('POST', '/events', { topic: 'order.paid' }, headers);
  assert.deepEqual([first.status, second.status], [202, 200]);
  assert.equal(second.body.id, first.body.id);
  assert.equal(store.deliveries.size, 1);
});

test('a failing endpoint is tried again later', async () => {
  const { call, subscribe, dispatcher, clock, store } = setUp([{ status: 503, body: 'busy' }, { status: 200, body: 'ok' }]);
  subscribe();
  call('POST', '/events', { topic: 'order.paid' });
  await dispatcher.tick();
  assert.equal(store.deliveries.get('dlv_1').status, 'pending');
  clock.ms += 1_200;
  await dispatcher.tick();
  assert.equal(store.deliveries.get('dlv_1').status, 'delivered');
});

test('a refusal ends the delivery and a replay revives it', async () => {
  const { call, subscribe, dispatcher, clock, store } = setUp([{ status: 400, body: 'no' }, { status: 200, body: 'ok' }]);
  subscribe();
  call('POST', '/events', { topic: 'order.paid' });
  await dispatcher.tick();
  assert.equal(store.deliveries.get('dlv_1').status, 'dead');
  assert.equal(call('POST', '/deliveries/dlv_1/replay').status, 202);
  clock.ms += 1_000;
  await dispatcher.tick();
  assert.equal(store.deliveries.get('dlv_1').status, 'delivered');
});

test('a changed body or an old timestamp is not verified', () => {
  const header = sign('s', 1_000, '{}');
  assert.equal(verify('s', header, '{ }', { nowSec: 1_000 }).reason, 'signature');
  assert.equal(verify('s', header, '{}', { nowSec: 1_301 }).reason, 'timestamp');
});

test('the pause doubles up to its limit', () => {
  const limits = { baseDelayMs: 1_000, maxDelayMs: 5_000 };
  assert.deepEqual([1, 2, 3, 4].map((n) => nextDelayMs(n, limits, () => 0.5)), [1_000, 2_000, 4_000, 5_000]);
  assert.deepEqual([404, 408, 429, 500].map(isRetryable), [false, true, true, true]);
});

test('a circuit opens, then lets one probe through', () => {
  const clock = { ms: 0 };
  const breaker = new CircuitBreaker({ now: () => clock.ms, failureThreshold: 2, cooldownMs: 100 });
  breaker.failure('a');
  assert.equal(breaker.allow('a'), true);
  breaker.failure('a');
  assert.equal(breaker.allow('a'), false);
  clock.ms = 100;
  assert.deepEqual([breaker.allow('a'), breaker.allow('a')], [true, false]);
  breaker.success('a');
  assert.equal(breaker.state('a'), 'closed');
});
