import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { expect, it, onTestFinished } from 'vitest';

const mortise = fileURLToPath(new URL('../bin/mortise.js', import.meta.url));
const calculator = fileURLToPath(new URL('servers/calc.ts', import.meta.url));

/** Starts a command and gives what it prints, each time that more came. */
function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [mortise, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let told = '';
  const until = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const [found] = pattern.exec(told) ?? [];
      if (found !== undefined) return found;
      const [chunk] = (await once(child.stderr, 'data')) as [Buffer];
      told += String(chunk);
    }
  };
  return { child, until };
}

/** Opens the link of a page, and waits until a server is in a state. */
async function openLink(url: string) {
  const states: { readonly status: string; readonly name: string }[] = [];
  let heard: () => void = () => undefined;
  const hear = (state: (typeof states)[number]): void => {
    states.push(state);
    heard();
  };
  const connection = new Connection(webSocketTransport(`${url.replace('http', 'ws')}link`, { headers: { Origin: new URL(url).origin } }), {
    onNotification: ({ params }) => {
      for (const event of params?.['events'] as unknown as readonly { readonly state?: (typeof states)[number] }[])
        if (event.state) hear(event.state);
    },
  });
  await connection.start();
  onTestFinished(() => connection.close());
  const { servers } = await connection.request('hello');
  for (const { state } of servers as unknown as readonly { readonly state: (typeof states)[number] }[]) hear(state);
  return {
    async untilStates(...wanted: readonly string[]): Promise<void> {
      for (;;) {
        const found = wanted.reduce(
          (from, status) => (from < 0 ? from : states.findIndex((state, at) => at >= from && state.status === status)),
          0,
        );
        if (found >= 0) return;
        await new Promise<void>((resolve) => (heard = resolve));
      }
    },
  };
}

it('dev opens the page for a file, starts its server again when the file changes, and ends at Ctrl-C', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'server.ts');
  const text = `export { server } from ${JSON.stringify(calculator)};\n`;
  writeFileSync(file, text);
  const { child, until } = start('dev', file);
  const url = await until(/http:\S+/);
  const response = await fetch(url);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await response.text()).toContain('Mortise Inspector');
  const link = await openLink(url);
  await link.untilStates('ready');
  writeFileSync(file, `${text}// changed\n`);
  await until(/started again/);
  await link.untilStates('ready', 'closed', 'connecting', 'ready');
  writeFileSync(file, 'export const server = (;\n');
  await until(/error: [^]*server\.ts failed while it was loaded[^]*ParseError/);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('inspector takes a command, and the page alone without one', async () => {
  const named = start('inspector', `${process.execPath} ${mortise} run ${calculator}`, '--no-open');
  await (await openLink(await named.until(/http:\S+/))).untilStates('ready');
  const alone = start('inspector');
  expect((await fetch(await alone.until(/http:\S+/))).status).toBe(200);
});
