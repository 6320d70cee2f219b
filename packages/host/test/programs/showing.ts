/** A server on stdio that shows its environment and folder. */

import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';

const server = new McpServer({ name: 'showing', version: '1.0.0' });
server.registerTool('environment', {}, () => JSON.stringify({ ...process.env, cwd: process.cwd() }));
await serveStdio(server);
