'use strict';

const defaults = require('./config');
const { nextDelayMs } = require('../workers/retry');

function topicMatches(pattern, topic) {
  if (pattern.endsWith('.*')) return topic.startsWith(pattern.slice(0, -1));
  return pattern === topic;
}

/** Subscriptions, events and deliveries, kept in memory. */
class Store {
  constructor({ now = Date.now, config = defaults } = {}) {
    this.now = now;
    this.config = config;
    this.subscriptions = new Map();
    this.events = new Map();
    this.deliveries = new Map();
    this.idempotency = new Map();
    this.counters = { sub: 0, evt: 0, dlv: 0 };
  }

  nextId(kind) {
    this.counters[kind] += 1;
    return `${kind}_${this.counters[kind]}`;
  }

  addSubscription({ tenant, url, topics, secret }) {
    const subscription = { id: this.nextId('sub'), tenant, url, topics, secret, createdAt: this.now() };
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  listSubscriptions(tenant) {
    return [...this.subscriptions.values()].filter((subscription) => subscription.tenant === tenant);
  }

  removeSubscription(id) {
    this.subscriptions.delete(id);
    for (const delivery of this.deliveries.values()) {
      if (delivery.subscriptionId === id && delivery.status === 'pending') delivery.status = 'cancelled';
    }
  }

  /** Stores an event and one delivery for each subscription that wants it. */
  addEvent({ tenant, topic, payload, idempotencyKey }) {
    const known = idempotencyKey && this.idempotency.get(idempotencyKey);
    if (known && known.expiresAt > this.now()) return { event: this.events.get(known.eventId), created: false };

    const event = {
      id: this.nextId('evt'),
      tenant,
      topic,
      body: JSON.stringify({ topic, payload }),
      createdAt: this.now(),
    };
    this.events.set(event.id, event);
    if (idempotencyKey) {
      const expiresAt = this.now() + this.config.idempotencyTtlMs;
      this.idempotency.set(idempotencyKey, { eventId: event.id, expiresAt });
    }
    for (const subscription of this.listSubscriptions(tenant)) {
      if (subscription.topics.some((pattern) => topicMatches(pattern, topic))) this.addDelivery(event, subscription);
    }
    return { event, created: true };
  }

  addDelivery(event, subscription) {
    const delivery = {
      id: this.nextId('dlv'),
      tenant: event.tenant,
      eventId: event.id,
      subscriptionId: subscription.id,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: this.now(),
      leaseUntil: 0,
      lastStatus: null,
      lastBody: null,
      lastError: null,
    };
    this.deliveries.set(delivery.id, delivery);
    return delivery;
  }

  isDue(delivery) {
    if (delivery.status === 'pending') return delivery.nextAttemptAt <= this.now();
    return delivery.status === 'leased' && delivery.leaseUntil <= this.now();
  }

  /** Leases up to `limit` due deliveries to the caller, oldest first. */
  claimDue(limit) {
    const claimed = [];
    for (const delivery of this.deliveries.values()) {
      if (claimed.length === limit) break;
      if (!this.isDue(delivery)) continue;
      // Workers that die with a delivery in hand never report it, so the limit is kept here too.
      if (delivery.attempts >= this.config.delivery.maxAttempts) {
        delivery.status = 'dead';
        continue;
      }
      delivery.status = 'leased';
      delivery.attempts += 1;
      delivery.leaseUntil = this.now() + this.config.delivery.leaseMs;
      claimed.push(delivery);
    }
    return claimed;
  }

  complete(id, { status, body }) {
    const delivery = this.deliveries.get(id);
    Object.assign(delivery, { status: 'delivered', lastStatus: status, lastBody: body, lastError: null });
  }

  /** Records a failure that is worth another try; without `delayMs` the usual pause applies. */
  fail(id, { status = null, body = null, error = null, delayMs }) {
    const delivery = this.deliveries.get(id);
    Object.assign(delivery, { lastStatus: status, lastBody: body, lastError: error });
    if (delivery.attempts >= this.config.delivery.maxAttempts) {
      delivery.status = 'dead';
      return;
    }
    delivery.status = 'pending';
    delivery.nextAttemptAt = this.now() + (delayMs ?? nextDelayMs(delivery.attempts, this.config.delivery));
  }

  /** Puts a claimed delivery back until `at`. */
  defer(id, at) {
    const delivery = this.deliveries.get(id);
    delivery.status = 'pending';
    delivery.nextAttemptAt = at;
  }

  kill(id, { status = null, body = null, error = null }) {
    const delivery = this.deliveries.get(id);
    Object.assign(delivery, { status: 'dead', lastStatus: status, lastBody: body, lastError: error });
  }
}

module.exports = { Store, topicMatches };
