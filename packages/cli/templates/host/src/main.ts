import { createInterface } from 'node:readline/promises';
import { readConfigFile } from '@mortise/host/config';
import { connect } from './host.ts';

const [name, ...words] = process.argv.slice(2);
const { servers, problems } = await readConfigFile('mcp.json', { env: process.env });
for (const { line, key, message } of problems) console.error(`mcp.json:${line} ${key} ${message}`);

const host = connect(servers, async (question) => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return answer === 'y';
});

if (name === undefined) {
  for (const { name, tool } of await host.tools()) console.log(`${name}: ${tool.description ?? ''}`);
} else {
  const { content } = await host.callTool(name, Object.fromEntries(words.map((word) => word.split('=', 2))));
  for (const block of content) console.log(block.type === 'text' ? block.text : block);
}
await host.close();
