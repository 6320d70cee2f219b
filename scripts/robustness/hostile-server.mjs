/** A server that means harm: for each path, one way to make a client hold too much. Prints its address and the paths. */

import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const mebibyte = 1024 * 1024;
const json = { 'content-type': 'application/json' };
const stream = { 'content-type': 'text/event-stream' };

/** Writes a text over and over until the client leaves, as fast as it reads. */
async function flood(response, text, first = '') {
  const wake = () => response.wake?.();
  response.on('drain', wake);
  response.on('close', wake);
  response.write(first);
  while (!response.destroyed) {
    if (!response.write(text)) await new Promise((resolve) => (response.wake = resolve));
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A result of just under the longest message that a client takes, made of many small parts. */
const resultOf = (id, part) => {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","content":[],"parts":[`;
  const count = Math.floor((16 * mebibyte - head.length - 100) / (part.length + 1));
  return `${head}${`${part},`.repeat(count - 1)}${part}]}}`;
};

const attacks = {
  'body-without-end': ({ response }) => flood(response.writeHead(200, json), 'x'.repeat(64 * 1024)),
  'event-without-end': ({ response }) => flood(response.writeHead(200, stream), `data: ${'x'.repeat(1000)}\n`),
  'line-without-end': ({ response }) => flood(response.writeHead(200, stream), 'x'.repeat(64 * 1024)),
  'empty-lines-of-data': ({ response }) => flood(response.writeHead(200, stream), 'data\n'.repeat(10_000)),
  'byte-by-byte': ({ response }) => flood(response.writeHead(200, stream), 'x'),
  'wide-characters': ({ response }) => flood(response.writeHead(200, stream), '\u6f22'.repeat(20_000), 'data: '),
  'error-without-end': ({ response }) => flood(response.writeHead(500, json), 'x'.repeat(64 * 1024)),
  'events-without-end': ({ response }) =>
    flood(response.writeHead(200, stream), 'data: {"jsonrpc":"2.0","method":"notifications/x","params":{}}\n\n'.repeat(500)),
  'garbage-without-end': ({ response }) => flood(response.writeHead(200, stream), 'data: {"a":\n\n'.repeat(2000)),
  'gzip-bomb': ({ response }) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
  'empty-objects': ({ response, id }) => response.writeHead(200, json).end(resultOf(id, '{}')),
  'empty-arrays': ({ response, id }) => response.writeHead(200, json).end(resultOf(id, '[]')),
  'many-keys': ({ response, id }) => response.writeHead(200, json).end(resultOf(id, '{"a":0,"b":0}')),
  'one-large-text': ({ response, id }) => response.writeHead(200, json).end(resultOf(id, `"${'\u6f22'.repeat(16_000)}"`)),
  'objects-in-an-event': ({ response, id }) => response.writeHead(200, stream).end(`data: ${resultOf(id, '{}')}\n\n`),
  'large-headers': ({ response }) => response.writeHead(200, { ...json, 'x-large': 'y'.repeat(512 * 1024) }).end('{}'),
};

const bomb = gzipSync('x'.repeat(200 * mebibyte));

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.on('error', () => undefined);
    const { id } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    void attacks[request.url.slice(1)]?.({ response, id });
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/ ${Object.keys(attacks).join(' ')}\n`);
});
