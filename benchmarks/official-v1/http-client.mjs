import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { runClient } from '../measure/client-run.mjs';
import { startFloor } from '../measure/floor-http.mjs';

const { url, stop } = await startFloor();
const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await runClient((a, b) => client.callTool({ name: 'add', arguments: { a, b } }));
await client.close();
await stop();
