'use strict';

module.exports = Object.freeze({
  port: Number(process.env.PORT || 8080),
  maxBodyBytes: 256 * 1024,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  tenants: {
    'key-acme-7f31': 'acme',
    'key-birch-22c9': 'birch',
  },
  delivery: {
    maxAttempts: 8,
    batchSize: 20,
    leaseMs: 30_000,
    timeoutMs: 10_000,
    baseDelayMs: 1_000,
    maxDelayMs: 3_600_000,
  },
  circuit: {
    failureThreshold: 5,
    cooldownMs: 60_000,
  },
});
