// Vercel's AI SDK client: connects, lists tools, calls `add`, and prints what it saw as JSON. `node ai-sdk-client.mjs http URL`, or `stdio COMMAND...`.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';

const [type, target, ...args] = process.argv.slice(2);
const transport = type === 'stdio' ? new StdioTransport({ command: target, args }) : { type, url: target };
const client = await createMCPClient({ transport });
const tools = await client.tools();
const result = await tools.add.execute({ a: 2, b: 3 }, { toolCallId: '1', messages: [] });
await client.close();
console.log(JSON.stringify({ tools: Object.keys(tools), result }));
