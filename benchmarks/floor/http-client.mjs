// The floor for clients over HTTP: bare node:http, or the bare global fetch, and JSON.
import { Agent, request } from 'node:http';
import { runClient } from '../measure/client-run.mjs';
import { startFloor } from '../measure/floor-http.mjs';

const { url, stop } = await startFloor();
const agent = new Agent({ keepAlive: true });
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
let lastId = 0;
const toBody = (a, b) =>
  JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method: 'tools/call', params: { name: 'add', arguments: { a, b } } });

async function callByFetch(a, b) {
  const response = await fetch(url, { method: 'POST', headers, body: toBody(a, b) });
  return (await response.json()).result;
}

function callByNode(a, b) {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()).result));
    });
    call.end(toBody(a, b));
  });
}

await runClient(process.argv[3] === 'fetch' ? callByFetch : callByNode);
agent.destroy();
await stop();
