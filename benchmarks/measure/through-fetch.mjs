// From node:http to a web handler, as thin as it can be: what the platform's own Request and Response cost is part of what is measured.
export function throughFetch(fetchHandler) {
  return (incoming, outgoing) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => void answer(fetchHandler, incoming, outgoing, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  };
}

async function answer(fetchHandler, incoming, outgoing, body) {
  const init = { method: incoming.method, headers: incoming.headers, ...(incoming.method === 'POST' && { body }) };
  const response = await fetchHandler(new Request(`http://${incoming.headers.host}${incoming.url}`, init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.headers.get('content-type') !== 'text/event-stream') return void outgoing.end(await response.text());
  for await (const piece of response.body) outgoing.write(piece);
  outgoing.end();
}
