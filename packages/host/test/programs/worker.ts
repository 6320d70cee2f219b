/** A server on stdio whose tools end its process, for tests of restarts. */

import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';

const server = new McpServer({ name: 'worker', version: '1.0.0' });
server.registerTool('pid', {}, () => String(process.pid));
server.registerTool('die', {}, () => {
  process.kill(process.pid, 'SIGKILL');
  return '';
});
await serveStdio(server);
