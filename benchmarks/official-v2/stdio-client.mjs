import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { floorServer, runClient } from '../measure/client-run.mjs';

const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [floorServer] }));
await runClient((a, b) => client.callTool({ name: 'add', arguments: { a, b } }));
await client.close();
