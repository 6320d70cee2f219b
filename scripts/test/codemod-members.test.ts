/** What the client of v1 has and ours lacks: the codemod must not overlook a use of it, whoever holds the client. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpClient } from '@mortise/client';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../packages/codemod/src/index.ts';
import type { Client } from '../../packages/compat-v1/src/client/index.ts';

/** The compiler keeps it complete. */
const lacking = {
  experimental: true,
  registerCapabilities: true,
  notification: true,
  transport: true,
  removeRequestHandler: true,
  assertCanSetRequestHandler: true,
  setNotificationHandler: true,
  removeNotificationHandler: true,
  fallbackRequestHandler: true,
  fallbackNotificationHandler: true,
  onclose: true,
  onerror: true,
} satisfies Record<Exclude<keyof Client, keyof McpClient | `_${string}`>, true>;

it.each(Object.keys(lacking))('the codemod lists a use of %s', async (name) => {
  const folder = await mkdtemp(join(tmpdir(), 'codemod-members-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const taken = "import { Client } from '@modelcontextprotocol/sdk/client/index.js';";
  await writeFile(join(folder, 'a.ts'), `${taken}\napp.client.${name}({ method: 'a' });`);
  const { left } = await migrate(folder, { from: 'v1', native: true });
  expect(left).toMatchObject([
    { line: 2, what: expect.stringContaining(name) as string },
    { line: 1, isStay: true },
  ]);
});
