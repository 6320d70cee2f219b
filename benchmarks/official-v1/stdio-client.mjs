import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { floorServer, runClient } from '../measure/client-run.mjs';

const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [floorServer] }));
await runClient((a, b) => client.callTool({ name: 'add', arguments: { a, b } }));
await client.close();
