'use strict';

const { circuit: defaults } = require('../shared/config');

/** Keeps workers away from endpoints that fail; one circuit for each subscription. */
class CircuitBreaker {
  constructor({ now = Date.now, failureThreshold = defaults.failureThreshold, cooldownMs = defaults.cooldownMs } = {}) {
    this.now = now;
    this.failureThreshold = failureThreshold;
    this.cooldownMs = cooldownMs;
    this.circuits = new Map();
  }

  state(id) {
    const circuit = this.circuits.get(id);
    if (!circuit || circuit.openedAt === null) return 'closed';
    return this.now() < circuit.openedAt + this.cooldownMs ? 'open' : 'half-open';
  }

  /** Whether a request may be sent now. A half-open circuit lets one request through. */
  allow(id) {
    const state = this.state(id);
    if (state === 'closed') return true;
    const circuit = this.circuits.get(id);
    if (state === 'open' || circuit.probing) return false;
    circuit.probing = true;
    return true;
  }

  /** When it makes sense to ask again. */
  retryAt(id) {
    const circuit = this.circuits.get(id);
    return Math.max(circuit.openedAt, this.now()) + this.cooldownMs;
  }

  success(id) {
    this.circuits.delete(id);
  }

  failure(id) {
    const circuit = this.circuits.get(id) || { failures: 0, openedAt: null, probing: false };
    circuit.failures += 1;
    if (circuit.probing || circuit.failures >= this.failureThreshold) circuit.openedAt = this.now();
    circuit.probing = false;
    this.circuits.set(id, circuit);
  }
}

const shared = new CircuitBreaker();

module.exports = { CircuitBreaker, shared };
