/** Code blocks of the seed document, with their import lines changed to Mortise's and nothing else. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const seedFile = fileURLToPath(new URL('../../../shared/seeds/000_3ea2ed3fc95c0714.txt', import.meta.url));

/** Whether the shared folder is beside the repository; tests skip with a notice where it is not. */
export const hasSeed: boolean = existsSync(seedFile);
if (!hasSeed) process.stderr.write('seed examples: skipped, the shared folder is not beside the repository\n');

/** The code block that follows a heading. */
export function cut(heading: string): string {
  const seed = readFileSync(seedFile, 'utf8');
  const from = seed.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`the seed has no heading "${heading}"`);
  const block = /```typescript\n([\s\S]*?)\n```/.exec(seed.slice(from));
  if (!block?.[1]) throw new Error(`no code follows "${heading}"`);
  return block[1];
}

const newHomes: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/sdk/server/mcp.js': '@mortise/server',
  '@modelcontextprotocol/sdk/server/stdio.js': '@mortise/transport-stdio/server',
  '@modelcontextprotocol/sdk/server/streamableHttp.js': '@mortise/transport-http/server',
  '@modelcontextprotocol/sdk/types.js': '@mortise/protocol',
  sqlite3: new URL('../fixtures/sqlite3-over-wasm.mjs', import.meta.url).href,
};

/** Rewrites import lines and nothing else. */
export function rewriteImports(code: string): string {
  return code.replace(/^import .* from '([^']+)';$/gm, (line, from: string) => line.replace(`'${from}'`, `'${newHomes[from] ?? from}'`));
}
