import { connect } from './client.ts';

const [server, ...args] = process.argv.slice(2);
if (server === undefined) throw new Error('Which server? npm start -- https://example.com/mcp');

const client = await connect(server, ...args);
for await (const tool of client.tools()) console.log(`${tool.name}: ${tool.description ?? ''}`);
await client.close();
