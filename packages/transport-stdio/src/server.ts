/** `@mortise/transport-stdio/server`: serves the client that started this process. */

export { serveStdio, type ServeStdioOptions, type StdioServing } from './serve-stdio.ts';
export { StdioServerTransport, type StdioServerTransportOptions } from './stdio-server-transport.ts';
export { stderrLogger } from './stderr-logger.ts';
