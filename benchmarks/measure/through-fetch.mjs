// From node:http to a web handler, in the two ways that a program on Node has.
import { getRequestListener } from '@hono/node-server';

/** As thin as it can be over the platform's own `Request` and `Response`: what those cost is part of what is measured. */
export function throughFetch(fetchHandler) {
  return (incoming, outgoing) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => void answer(fetchHandler, incoming, outgoing, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  };
}

/** What programs run: the adapter of Hono, whose `Request` and `Response` read Node's objects and are no more than what is asked of them. */
export const throughHono = (fetchHandler) => getRequestListener(fetchHandler);

async function answer(fetchHandler, incoming, outgoing, body) {
  const init = { method: incoming.method, headers: incoming.headers, ...(incoming.method === 'POST' && { body }) };
  const response = await fetchHandler(new Request(`http://${incoming.headers.host}${incoming.url}`, init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.headers.get('content-type') !== 'text/event-stream') return void outgoing.end(await response.text());
  for await (const piece of response.body) outgoing.write(piece);
  outgoing.end();
}
