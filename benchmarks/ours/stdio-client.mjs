import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { floorServer, runClient } from '../measure/client-run.mjs';

const era = process.argv[3] ?? 'legacy';
const transport = stdioTransport({ command: process.execPath, args: [floorServer] });
const client = await McpClient.connect(transport, { name: 'bench', version: '1.0.0' }, { era });
await runClient((a, b) => client.callTool('add', { a, b }));
await client.close();
