import { createServer } from 'node:http';

/** Serves a function from `Request` to `Response` on a free port, and prints its address. */
export function listen(respond) {
  const http = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const response = await respond(new Request(`http://127.0.0.1${req.url}`, { method: req.method, headers: req.headers, ...body }));
    res.writeHead(response.status, Object.fromEntries(response.headers));
    // A stream of events that stays open is not waited for as a whole.
    if (response.body) for await (const chunk of response.body) res.write(chunk);
    res.end();
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
