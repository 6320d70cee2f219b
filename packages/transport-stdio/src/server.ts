/** `@mortise/transport-stdio/server`: connects a server to the client that started this process, over standard input and output. */

export { serveStdio, type ServeStdioOptions, type StdioServing } from './serve-stdio.ts';
export { StdioServerTransport, type StdioServerTransportOptions } from './stdio-server-transport.ts';
export { stderrLogger } from './stderr-logger.ts';
