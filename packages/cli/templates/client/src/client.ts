import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';

/** Connects to a server, by its URL or by the command that starts it. */
export function connect(server: string, ...args: readonly string[]): Promise<McpClient> {
  const transport = /^https?:/.test(server) ? httpTransport(server) : stdioTransport({ command: server, args });
  return McpClient.connect(transport, { name: '{{name}}', version: '0.1.0' });
}
