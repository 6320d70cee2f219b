import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'one-tool', version: '1.0.0' });
const parameters = z.object({ a: z.number(), b: z.number() });
server.addTool({ name: 'add', description: 'Adds', parameters, execute: async ({ a, b }) => String(a + b) });
await server.start({ transportType: 'stdio' });
