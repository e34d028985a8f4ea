'use strict';

const defaults = require('../shared/config');
const { sign } = require('../shared/signature');
const { shared: sharedBreaker } = require('./circuit');

const NETWORK_RETRY_MS = 5_000;

/** Claims due deliveries and sends them one after the other. */
class Dispatcher {
  constructor({ store, transport, breaker = sharedBreaker, now = Date.now, config = defaults }) {
    this.store = store;
    this.transport = transport;
    this.breaker = breaker;
    this.now = now;
    this.config = config;
  }

  /** One round; returns how many deliveries were claimed. */
  async tick() {
    const claimed = this.store.claimDue(this.config.delivery.batchSize);
    for (const delivery of claimed) {
      await this.deliver(delivery);
    }
    return claimed.length;
  }

  async deliver(delivery) {
    const subscription = this.store.subscriptions.get(delivery.subscriptionId);
    if (!subscription) {
      this.store.kill(delivery.id, { error: 'subscription removed' });
      return;
    }
    if (!this.breaker.allow(subscription.id)) {
      this.store.defer(delivery.id, this.breaker.retryAt(subscription.id));
      return;
    }
    const event = this.store.events.get(delivery.eventId);
    let response;
    try {
      response = await this.transport(this.request(subscription, event, delivery));
    } catch (problem) {
      this.breaker.failure(subscription.id);
      const delayMs = NETWORK_RETRY_MS * delivery.attempts;
      this.store.fail(delivery.id, { error: problem.message, delayMs });
      return;
    }
    this.settle(subscription, delivery, response);
  }

  settle(subscription, delivery, { status, body }) {
    if (status >= 200 && status < 300) {
      this.breaker.success(subscription.id);
      this.store.complete(delivery.id, { status, body });
    } else if (status === 429 || status >= 500) {
      this.breaker.failure(subscription.id);
      this.store.fail(delivery.id, { status, body });
    } else {
      this.breaker.success(subscription.id);
      this.store.kill(delivery.id, { status, body });
    }
  }

  request(subscription, event, delivery) {
    const timestampSec = Math.floor(this.now() / 1000);
    return {
      url: subscription.url,
      timeoutMs: this.config.delivery.timeoutMs,
      body: event.body,
      headers: {
        'content-type': 'application/json',
        'x-hook-event': event.id,
        'x-hook-delivery': delivery.id,
        'x-hook-attempt': String(delivery.attempts),
        'x-hook-signature': sign(subscription.secret, timestampSec, event.body),
      },
    };
  }
}

module.exports = { Dispatcher };
