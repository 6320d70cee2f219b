/** The libraries that "Why Mortise" compares: where each is installed here, and what its one-tool servers are. */

import { join } from 'node:path';
import { root } from '../run-command.mjs';

const benchmarks = join(root, 'benchmarks');
const otherMakers = join(root, 'tools/other-makers');

/**
 * @typedef {object} Library
 * @property {string} name
 * @property {string} folder Where its packages are resolved from.
 * @property {readonly string[]} packages What a one-tool server over stdio imports, or over HTTP where it has no stdio. The first has the version.
 * @property {{ stdio?: string, http: string }} servers
 * @property {Readonly<Record<string, readonly string[]>>} transports What the makers publish for each transport: package or subpath.
 */

/** @type {readonly Library[]} */
export const libraries = [
  {
    name: 'Mortise',
    folder: benchmarks,
    packages: ['@mortise/server', '@mortise/transport-stdio', 'zod'],
    servers: serversIn(join(benchmarks, 'one-tool'), 'mortise'),
    transports: {
      stdio: ['@mortise/transport-stdio/server', '@mortise/transport-stdio/client'],
      'Streamable HTTP': ['@mortise/transport-http/server', '@mortise/transport-http/client'],
      'HTTP+SSE': ['@mortise/transport-http/server', '@mortise/transport-http/client'],
      WebSocket: ['@mortise/transport-ws-custom/server', '@mortise/transport-ws-custom/client'],
      'in memory': ['@mortise/client/in-memory'],
    },
  },
  {
    name: 'Official v1',
    folder: benchmarks,
    packages: ['@modelcontextprotocol/sdk', 'zod'],
    servers: serversIn(join(benchmarks, 'one-tool'), 'official-v1'),
    transports: {
      stdio: ['@modelcontextprotocol/sdk/server/stdio.js', '@modelcontextprotocol/sdk/client/stdio.js'],
      'Streamable HTTP': ['@modelcontextprotocol/sdk/server/streamableHttp.js', '@modelcontextprotocol/sdk/client/streamableHttp.js'],
      'HTTP+SSE': ['@modelcontextprotocol/sdk/server/sse.js', '@modelcontextprotocol/sdk/client/sse.js'],
      'WebSocket (client)': ['@modelcontextprotocol/sdk/client/websocket.js'],
      'in memory': ['@modelcontextprotocol/sdk/inMemory.js'],
    },
  },
  {
    name: 'Official v2',
    folder: benchmarks,
    packages: ['@modelcontextprotocol/server', 'zod'],
    servers: serversIn(join(benchmarks, 'one-tool'), 'official-v2'),
    transports: {
      stdio: ['@modelcontextprotocol/server/stdio', '@modelcontextprotocol/client/stdio'],
      'Streamable HTTP': ['@modelcontextprotocol/server', '@modelcontextprotocol/client'],
    },
  },
  {
    name: 'FastMCP',
    folder: otherMakers,
    packages: ['fastmcp', 'zod'],
    servers: serversIn(join(otherMakers, 'one-tool'), 'fastmcp'),
    transports: { stdio: ['fastmcp'], 'Streamable HTTP': ['fastmcp'] },
  },
  {
    name: 'tmcp',
    folder: otherMakers,
    packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-stdio', 'zod'],
    servers: serversIn(join(otherMakers, 'one-tool'), 'tmcp'),
    transports: { stdio: ['@tmcp/transport-stdio'], 'Streamable HTTP': ['@tmcp/transport-http'] },
  },
  {
    name: 'mcp-lite',
    folder: otherMakers,
    packages: ['mcp-lite', 'zod'],
    servers: { http: join(otherMakers, 'one-tool/mcp-lite-http.mjs') },
    transports: { 'Streamable HTTP': ['mcp-lite'] },
  },
];

function serversIn(folder, name) {
  return { stdio: join(folder, `${name}-stdio.mjs`), http: join(folder, `${name}-http.mjs`) };
}
