'use strict';

const JITTER = 0.2;

/** The pause before the next try after `attempts` tries, in milliseconds. */
function nextDelayMs(attempts, { baseDelayMs, maxDelayMs }, random = Math.random) {
  const plain = Math.min(baseDelayMs * 2 ** (attempts - 1), maxDelayMs);
  return Math.round(plain * (1 - JITTER + 2 * JITTER * random()));
}

/** Whether a status is worth another try. */
function isRetryable(status) {
  return status === 408 || status === 429 || status >= 500;
}

module.exports = { nextDelayMs, isRetryable };
