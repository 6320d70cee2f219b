import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { nodeHttpSender } from '@mortise/transport-http/node';
import { runClient } from '../measure/client-run.mjs';
import { startFloor } from '../measure/floor-http.mjs';

const [sender = 'fetch', era = 'legacy'] = process.argv.slice(3);
const { url, stop } = await startFloor();
const transport = httpTransport(url, sender === 'fetch' ? {} : { sender: nodeHttpSender() });
const client = await McpClient.connect(transport, { name: 'bench', version: '1.0.0' }, { era });
await runClient((a, b) => client.callTool('add', { a, b }));
await client.close();
await stop();
