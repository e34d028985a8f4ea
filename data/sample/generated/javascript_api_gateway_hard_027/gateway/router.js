'use strict';

const crypto = require('node:crypto');
const defaults = require('../shared/config');
const { shared: sharedBreaker } = require('../workers/circuit');

const TOPIC = /^[a-z0-9]+(\.[a-z0-9]+)*(\.\*)?$/;
const REPLAY_BASE_MS = 500;
const REPLAY_MAX_MS = 60_000;

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function parseBody(body) {
  try {
    const value = JSON.parse(body || '{}');
    if (value && typeof value === 'object' && !Array.isArray(value)) return value;
  } catch {
    // answered below
  }
  throw new HttpError(400, 'the body must be a JSON object');
}

function checkUrl(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new HttpError(422, 'url is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new HttpError(422, 'url must be http or https');
  return url.href;
}

/** Maps requests `{method, path, headers, body}` to responses `{status, body}`. */
class Router {
  constructor({ store, breaker = sharedBreaker, now = Date.now, config = defaults }) {
    this.store = store;
    this.breaker = breaker;
    this.now = now;
    this.config = config;
    this.routes = [
      ['POST', /^\/subscriptions$/, this.createSubscription],
      ['GET', /^\/subscriptions$/, this.listSubscriptions],
      ['GET', /^\/subscriptions\/(\w+)$/, this.showSubscription],
      ['DELETE', /^\/subscriptions\/(\w+)$/, this.deleteSubscription],
      ['POST', /^\/events$/, this.publish],
      ['GET', /^\/deliveries\/(\w+)$/, this.showDelivery],
      ['POST', /^\/deliveries\/(\w+)\/replay$/, this.replay],
    ];
  }

  handle(request) {
    try {
      const tenant = this.config.tenants[request.headers['x-api-key']];
      if (!tenant) throw new HttpError(401, 'unknown API key');
      for (const [method, pattern, handler] of this.routes) {
        const match = request.method === method && pattern.exec(request.path);
        if (match) return handler.call(this, tenant, request, match[1]);
      }
      throw new HttpError(404, 'no such route');
    } catch (problem) {
      if (!(problem instanceof HttpError)) throw problem;
      return { status: problem.status, body: { error: problem.message } };
    }
  }

  createSubscription(tenant, request) {
    const { url, topics } = parseBody(request.body);
    if (!Array.isArray(topics) || topics.length === 0 || !topics.every((topic) => TOPIC.test(topic))) {
      throw new HttpError(422, 'topics must be a list of dotted names');
    }
    const secret = crypto.randomBytes(24).toString('hex');
    return { status: 201, body: this.store.addSubscription({ tenant, url: checkUrl(url), topics, secret }) };
  }

  listSubscriptions(tenant) {
    const items = this.store.listSubscriptions(tenant).map(({ secret, ...visible }) => visible);
    return { status: 200, body: { items } };
  }

  showSubscription(tenant, request, id) {
    const subscription = this.store.subscriptions.get(id);
    if (!subscription) throw new HttpError(404, 'no such subscription');
    return { status: 200, body: { ...subscription, circuit: this.breaker.state(id) } };
  }

  deleteSubscription(tenant, request, id) {
    const subscription = this.store.subscriptions.get(id);
    if (!subscription || subscription.tenant !== tenant) throw new HttpError(404, 'no such subscription');
    this.store.removeSubscription(id);
    return { status: 204, body: null };
  }

  publish(tenant, request) {
    const { topic, payload = {} } = parseBody(request.body);
    if (typeof topic !== 'string' || !TOPIC.test(topic) || topic.endsWith('*')) {
      throw new HttpError(422, 'topic must be a dotted name');
    }
    const idempotencyKey = request.headers['idempotency-key'];
    const { event, created } = this.store.addEvent({ tenant, topic, payload, idempotencyKey });
    return { status: created ? 202 : 200, body: event };
  }

  showDelivery(tenant, request, id) {
    const delivery = this.store.deliveries.get(id);
    if (!delivery || delivery.tenant !== tenant) throw new HttpError(404, 'no such delivery');
    return { status: 200, body: delivery };
  }

  replay(tenant, request, id) {
    const delivery = this.store.deliveries.get(id);
    if (!delivery || delivery.tenant !== tenant) throw new HttpError(404, 'no such delivery');
    if (delivery.status !== 'dead') throw new HttpError(409, `delivery is ${delivery.status}`);
    const wait = Math.min(REPLAY_BASE_MS * 2 ** delivery.attempts, REPLAY_MAX_MS);
    delivery.status = 'pending';
    delivery.attempts = 0;
    delivery.nextAttemptAt = this.now() + wait;
    return { status: 202, body: delivery };
  }
}

module.exports = { Router };
