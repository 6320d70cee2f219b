/** The official SDKs' clients use servers of other makers, and of ours, through a gateway, in each pairing of eras. */

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { createGateway, type GatewayServer } from '@mortise/host/gateway';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterEach, describe, expect, it } from 'vitest';
import { createMortiseServer } from '../fixtures/mortise-features.mjs';
import { describeOfficialClient, openV1, openV2 } from './official-client-cases.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Serves a gateway with one server behind it, which keeps the names of its tools. */
async function serve(behind: GatewayServer): Promise<URL> {
  const gateway = createGateway({ servers: { behind: { keepsNames: true, ...behind } } });
  const serving = await serveHttp(gateway, { port: 0, drainMs: 1 });
  ends.push(
    () => gateway.close(),
    () => serving.close(),
  );
  return new URL(serving.url);
}

const program = (...args: string[]): GatewayServer => ({
  transport: stdioTransport({ command: process.execPath, args, stderr: 'ignore' }),
  // On a busy machine a server may take seconds to start; as long as it is silent nothing is known of its era.
  client: { probeTimeoutMs: 60_000 },
});
const ours = (era: 'legacy' | 'modern') => (): GatewayServer => ({ transport: inMemoryTransport(createMortiseServer()), client: { era } });

const behinds = [
  ['a legacy server of ours', ours('legacy')],
  ['a modern server of ours', ours('modern')],
  ['a v1 server on stdio', () => program(fixture('official-v1-server.mjs'))],
  ['a v2 server on stdio', () => program(fixture('official-v2-server.mjs'))],
] as const;

for (const [what, behind] of behinds) {
  describeOfficialClient({
    name: `v1 over HTTP, through a gateway to ${what}`,
    era: 'legacy',
    open: async () => openV1(new HttpV1(await serve(behind())) as TransportV1),
  });
  describeOfficialClient({
    name: `v2 over HTTP, modern, through a gateway to ${what}`,
    era: 'modern',
    open: async () => openV2(new HttpV2(await serve(behind())), 'auto'),
  });
}

describe('server-everything (legacy, stdio) behind modern HTTP, for the official v2 client', () => {
  async function open(): Promise<ClientV2> {
    const url = await serve(program(everything, 'stdio'));
    const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
    const client = new ClientV2({ name: 'official-v2', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' }, capabilities });
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { name: 'Ann', check: true } }));
    const text = { type: 'text' as const, text: 'a model says so' };
    client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant' as const, model: 'scripted', content: text }));
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/ann' }] }));
    await client.connect(new HttpV2(url));
    ends.push(() => client.close());
    return client;
  }

  it('offers its tools, and runs them with progress and structured content', async () => {
    const client = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'trigger-elicitation-request']));
    expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({ content: [{ text: 'Echo: hi' }] });
    const weather = await client.callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } });
    expect(weather).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
    const steps: number[] = [];
    const options = { onprogress: ({ progress }: { progress: number }) => void steps.push(progress) };
    await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } }, options);
    expect(steps.length).toBeGreaterThan(0);
  });

  it('asks for input and for the model in rounds', async () => {
    const client = await open();
    await client.listTools();
    const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
    expect(JSON.stringify(elicited)).toContain('Ann');
    const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'Why?', maxTokens: 10 } });
    expect(JSON.stringify(sampled)).toContain('a model says so');
  });

  it('offers its prompts, resources, templates and completions', async () => {
    const client = await open();
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(2);
    const prompt = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Paris' } });
    expect(JSON.stringify(prompt.messages)).toContain('Paris');
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(0);
    expect((await client.readResource({ uri: resources[0]?.uri ?? '' })).contents).toHaveLength(1);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBeGreaterThan(0);
    const uri = (resourceTemplates[0]?.uriTemplate ?? '').replace(/\{\w+\}/u, '1');
    expect((await client.readResource({ uri })).contents).toHaveLength(1);
    const ref = { type: 'ref/prompt', name: 'completable-prompt' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'department', value: 'E' } });
    expect(completion.values).toContain('Engineering');
  });
});
