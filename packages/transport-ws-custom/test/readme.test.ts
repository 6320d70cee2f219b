import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

it('[TRAN-004] a page documents connection, framing, messages, metadata, cancellation and the end', async () => {
  expect(await read('../README.md')).toContain('docs/decisions/websocket-wire.md');
  const section = /\n(.*?)\n## /s.exec(await read('../../../docs/decisions/websocket-wire.md'))?.[1] ?? '';
  for (const subject of ['Connection', 'Framing', 'Messages', 'Metadata', 'Cancellation', 'Authorization', 'Ending', 'Loss'])
    expect(section).toMatch(new RegExp(`^- \\*\\*${subject}\\*\\*: .{40}`, 'm'));
});
