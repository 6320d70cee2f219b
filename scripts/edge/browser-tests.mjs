/** The tests that run in a real browser: one page, served on loopback, that loads the bundle and is asked what it saw. */

import { createServer } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { serveHttp } from '@mortise/transport-http/node';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { chromium } from 'playwright-core';
import { edgeSafeEntries } from '../workspace-packages.mjs';
import { bundleEdge } from './bundle-edge.mjs';
import { createServer as createMcpServer, expected } from './round-trip.mjs';

/** Only what stops a browser that hangs: a busy machine takes its time. */
const timeoutMs = 120_000;
const program = [
  "import { overNetwork, overPort } from './scripts/edge/over-network.mjs';",
  'globalThis.mortise = { entries, roundTrip, overNetwork, overPort };',
].join('\n');

/**
 * @param {string} executablePath Chromium.
 * @returns {AsyncGenerator<{ title: string, error?: string }>} One a test; with `error` where it failed.
 */
export async function* browserTests(executablePath) {
  const site = await serve({
    '/': ['text/html', '<!doctype html><meta charset="utf-8"><script type="module" src="/edge.js"></script>'],
    '/edge.js': ['text/javascript', await bundleEdge(program)],
  });
  const server = createMcpServer();
  const [http, webSocket] = [await serveHttp(server, { port: 0 }), await serveWebSocket(server, { port: 0 })];
  // Containers run as root and have no user namespaces; the page is ours.
  const browser = await chromium.launch({ executablePath, timeout: timeoutMs, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const page = await browser.newPage();
    const pageErrors = [];
    page.on('pageerror', (error) => pageErrors.push(error.stack ?? error.message));
    await page.goto(site.url, { timeout: timeoutMs });
    await page.waitForFunction('globalThis.mortise !== undefined', undefined, { timeout: timeoutMs }).catch(() => undefined);
    const loaded = await page.evaluate('globalThis.mortise?.entries ?? {}');
    for (const entry of edgeSafeEntries())
      yield {
        title: `${entry} loads in the browser`,
        error: entry in loaded ? undefined : `the bundle did not load:\n${pageErrors.join('\n')}`,
      };
    for (const { title, call } of conversations(http.url, webSocket.url)) {
      const answer = await page.evaluate(`mortise.${call}`).catch((error) => error.message);
      yield { title, error: isDeepStrictEqual(answer, expected) ? undefined : `got ${JSON.stringify(answer, null, 2)}` };
    }
    yield { title: 'the page saw no error', error: pageErrors.join('\n') || undefined };
  } finally {
    await browser.close();
    site.close();
    await Promise.all([http.close(), webSocket.close(), server.close()]);
  }
}

/** Who talks to whom, and what the page is told to do. */
function conversations(httpUrl, webSocketUrl) {
  return ['legacy', 'modern'].flatMap((era) => [
    { title: `a server and a client talk in the browser, ${era}`, call: `roundTrip('${era}')` },
    { title: `a page uses a server over HTTP, ${era}`, call: `overNetwork('HTTP', '${httpUrl}', '${era}')` },
    { title: `a page uses a server over WebSocket, ${era}`, call: `overNetwork('WebSocket', '${webSocketUrl}', '${era}')` },
    { title: `a page uses a server in a frame, over a message port, ${era}`, call: `overPort('${era}')` },
  ]);
}

/** Serves a few texts on loopback. */
async function serve(pages) {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? '/'];
    if (page === undefined) response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end();
    else response.writeHead(200, { 'content-type': page[0] }).end(page[1]);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
