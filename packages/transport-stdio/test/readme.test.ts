import { readFile } from 'node:fs/promises';
import { INHERITED_VARIABLES } from '@mortise/transport-stdio/client';
import { expect, it } from 'vitest';

it('[TRAN-004] the reference documents how a connection is established, framed and cancelled, and what is inherited', async () => {
  const read = async (file: string): Promise<string> =>
    (await readFile(new URL(`../src/${file}`, import.meta.url), 'utf8')).replaceAll('\r\n', '\n');
  const comment = /\/\*\*((?:(?!\*\/).)*)\*\/\nexport class StreamTransport /s.exec(await read('stream-transport.ts'))?.[1] ?? '';
  for (const subject of ['Connection', 'Framing', 'Cancellation'])
    expect(comment).toMatch(new RegExp(`^ \\* - \\*\\*${subject}\\*\\*: .{40}`, 'm'));
  const listed = (await read('child-process.ts')).replace(/\n \* +/g, ' ');
  for (const names of Object.values(INHERITED_VARIABLES)) expect(listed).toContain(names.join(' '));
});
