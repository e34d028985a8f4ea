'use strict';

const http = require('node:http');
const https = require('node:https');
const config = require('../shared/config');
const { Store } = require('../shared/store');
const { Dispatcher } = require('../workers/dispatcher');
const { Router } = require('./router');

const TICK_MS = 1_000;
const SNIPPET_CHARS = 2_000;

/** Sends one webhook and resolves to its status and the start of its body. */
function send({ url, headers, body, timeoutMs }) {
  const client = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const request = client.request(url, { method: 'POST', headers, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        if (text.length < SNIPPET_CHARS) text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: text.slice(0, SNIPPET_CHARS) }));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', reject);
    request.end(body);
  });
}

function createServer(router) {
  return http.createServer((request, response) => {
    const chunks = [];
    let size = 0;
    request.on('data', (chunk) => {
      size += chunk.length;
      if (size <= config.maxBodyBytes) chunks.push(chunk);
    });
    request.on('end', () => {
      const path = request.url.split('?')[0];
      const answer =
        size > config.maxBodyBytes
          ? { status: 413, body: { error: 'body too large' } }
          : router.handle({ method: request.method, path, headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(answer.body === null ? undefined : JSON.stringify(answer.body));
    });
  });
}

async function work(dispatcher) {
  try {
    await dispatcher.tick();
  } catch (problem) {
    console.error('dispatch round failed:', problem);
  }
  setTimeout(work, TICK_MS, dispatcher);
}

if (require.main === module) {
  const store = new Store();
  createServer(new Router({ store })).listen(config.port);
  work(new Dispatcher({ store, transport: send }));
}

module.exports = { createServer, send };
