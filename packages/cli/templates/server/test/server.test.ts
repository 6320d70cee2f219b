import { connectInMemory } from '@mortise/client/in-memory';
import { afterAll, expect, it } from 'vitest';
import { server } from '../src/server.ts';

const client = await connectInMemory(server);
afterAll(() => client.close());

it('adds two numbers', async () => {
  const { structuredContent } = await client.callTool('add', { a: 1, b: 2 });
  expect(structuredContent).toEqual({ sum: 3 });
});

it('refuses what is no number', async () => {
  const { isError } = await client.callTool('add', { a: 'one', b: 2 });
  expect(isError).toBe(true);
});
