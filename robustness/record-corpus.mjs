// Records what a real client sends to the target in every revision, into corpus.json: the messages that the fuzzer mutates.
import { writeFileSync } from 'node:fs';
import { McpClient } from '@mortise/client';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { REVISIONS } from '@mortise/protocol';
import { createTarget } from './target.mjs';

const corpus = [];
for (const { version, era } of REVISIONS) {
  const [clientSide, serverSide] = createInMemoryPair();
  const send = clientSide.send.bind(clientSide);
  clientSide.send = (message, options) => {
    corpus.push({ version, era, message });
    return send(message, options);
  };
  const server = createTarget();
  await server.connect(serverSide);
  const client = await McpClient.connect(clientSide, { name: 'recorder', version: '1.0.0' }, { protocolVersion: version });
  for await (const tool of client.tools()) void tool;
  for await (const resource of client.resources()) void resource;
  for await (const template of client.resourceTemplates()) void template;
  for await (const prompt of client.prompts()) void prompt;
  await client.callTool('add', { a: 1, b: 2 });
  await client.callTool('echo', { text: 'hello' }, { onProgress: () => undefined });
  await client.callTool('throw').catch(() => undefined);
  for (const kind of ['cycle', 'bigint', 'number', 'nothing']) await client.callTool('odd', { kind }).catch(() => undefined);
  await client.callTool('add', { a: 'x' }).catch(() => undefined);
  await client.readResource('item://1');
  await client.readResource('greet://Ada');
  await client.readResource('nowhere://').catch(() => undefined);
  await client.getPrompt('ask', { topic: 'maths' });
  await client.complete({ ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'topic', value: 'm' } });
  await client.complete({ ref: { type: 'ref/resource', uri: 'greet://{name}' }, argument: { name: 'name', value: 'A' } });
  if (era === 'legacy') {
    await client.ping();
    await client.setLoggingLevel('debug');
    await client.subscribeResource('item://1');
    await client.unsubscribeResource('item://1');
  } else {
    for await (const event of client.listen({ toolsListChanged: true, resourceSubscriptions: ['item://1'] })) {
      void event;
      break;
    }
  }
  const controller = new AbortController();
  const cancelled = client.callTool('echo', { text: 'stop' }, { signal: controller.signal });
  controller.abort(new Error('stop'));
  await cancelled.catch(() => undefined);
  await client.close();
  await server.close();
}
writeFileSync(new URL('./corpus.json', import.meta.url), `${JSON.stringify(corpus, null, 1)}\n`);
process.stdout.write(`${corpus.length} messages recorded\n`);
