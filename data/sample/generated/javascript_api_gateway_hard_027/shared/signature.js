'use strict';

const crypto = require('node:crypto');

const DEFAULT_TOLERANCE_SEC = 300;

function digest(secret, timestampSec, body) {
  return crypto.createHmac('sha256', secret).update(`${timestampSec}.${body}`).digest('hex');
}

/** The signature header of a request that is sent at `timestampSec`. */
function sign(secret, timestampSec, body) {
  return `t=${timestampSec},v1=${digest(secret, timestampSec, body)}`;
}

function parse(header) {
  const parsed = { timestamp: NaN, signatures: [] };
  for (const part of String(header).split(',')) {
    const cut = part.indexOf('=');
    const name = part.slice(0, cut).trim();
    const value = part.slice(cut + 1).trim();
    if (name === 't') parsed.timestamp = Number.parseInt(value, 10);
    if (name === 'v1') parsed.signatures.push(value);
  }
  return parsed;
}

function sameHex(left, right) {
  const a = Buffer.from(left, 'hex');
  const b = Buffer.from(right, 'hex');
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

/** Checks a received request; `reason` says what is wrong with it. */
function verify(secret, header, body, { nowSec, toleranceSec = DEFAULT_TOLERANCE_SEC }) {
  const { timestamp, signatures } = parse(header);
  if (!Number.isFinite(timestamp) || signatures.length === 0) return { ok: false, reason: 'malformed' };
  if (Math.abs(nowSec - timestamp) > toleranceSec) return { ok: false, reason: 'timestamp' };
  const expected = digest(secret, timestamp, body);
  if (!signatures.some((candidate) => sameHex(candidate, expected))) return { ok: false, reason: 'signature' };
  return { ok: true };
}

module.exports = { sign, verify };
