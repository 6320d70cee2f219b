/** The folders that servers are told of, and handlers that are set when it is too late or just in time. */

import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES } from '@mortise/protocol/wire';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpClient } from '../../src/index.ts';
import { complete, info, legacyScript, modernScript, ScriptedServer } from '../scripted-server.ts';
import { connect, eras, startAsking } from './asking.ts';

describe.each(eras)('roots in the $era era', ({ era }) => {
  it('[ROOT-004] are file: URIs in one spelling, with their names', async () => {
    const { ask } = await startAsking(era, { roots: [{ uri: 'FILE:///a/./b c' }, { uri: 'file:///d', name: 'D' }] });
    expect((await ask('roots/list')).answer).toEqual({ roots: [{ uri: 'file:///a/b%20c' }, { uri: 'file:///d', name: 'D' }] });
  });

  it.each(['file:///a/..%2fb', 'file:///a\\..\\b', 'file:///a%00', 'file:///a?b', 'file:///a#b', 'file://[', 'http://x.example/'])(
    '[ROOT-007] are not told at all if one is %s',
    async (uri) => {
      const errors: Error[] = [];
      const { ask } = await startAsking(era, { roots: [{ uri: 'file:///a' }, { uri }], onError: (error) => errors.push(error) });
      const { answer, error } = await ask('roots/list');
      expect(answer).toBeUndefined();
      expect(era === 'legacy' ? errors[0] : error).toMatchObject({ name: 'TypeError', message: expect.stringContaining(`root "${uri}"`) });
    },
  );
});

it('[ROOT-002] a change of the roots is told by itself to a legacy server, and to one that was told of roots alone', async () => {
  const { client, server, ask } = await startAsking('legacy', { roots: [] });
  client.onListRoots([{ uri: 'file:///b' }]);
  await server.nextMethod('notifications/roots/list_changed');
  expect((await ask('roots/list')).answer).toEqual({ roots: [{ uri: 'file:///b' }] });
  const without = await startAsking('legacy', {});
  await without.client.sendRootsListChanged();
  await without.client.ping();
  expect(without.server.methods).not.toContain('notifications/roots/list_changed');
});

describe('a handler that is set while a session is open', () => {
  const elicit = () => ({ action: 'cancel' }) as const;
  const sampling = () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }) as const;

  it.each([
    { what: 'onElicit', set: (client: McpClient) => client.onElicit(elicit), missing: ['elicitation.form'] },
    { what: 'onSample', set: (client: McpClient) => client.onSample(sampling), missing: ['sampling'] },
    { what: 'onListRoots', set: (client: McpClient) => client.onListRoots([]), missing: ['roots.listChanged'] },
    {
      what: 'setRequestHandler',
      set: (client: McpClient) => client.setRequestHandler('sampling/createMessage', sampling as never),
      missing: ['sampling'],
    },
  ])('[ELICIT-001][SAMP-001][ROOT-001] is refused by $what where a legacy server was not told of it', async ({ set, missing }) => {
    const { client, ask } = await startAsking('legacy', {});
    expect(() => set(client)).toThrow(expect.objectContaining({ code: 'ERR_MISSING_CAPABILITY', side: 'client', missing }));
    expect(() => set(client)).toThrow(/set the handler before connect\(\), or pass it/u);
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
      expect((await ask(method, {})).error).toMatchObject({ code: -32601 });
  });

  it('takes the place of one that was declared, and adds no mode to it', async () => {
    const { client, ask } = await startAsking('legacy', { elicitation: elicit });
    client.onElicit(() => ({ action: 'decline' }));
    expect((await ask('elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} } })).answer).toEqual({
      action: 'decline',
    });
    expect(() => client.onElicit({ form: elicit, url: elicit })).toThrow(/"elicitation.url"/u);
    expect((await ask('elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} } })).answer).toEqual({
      action: 'decline',
    });
  });

  it('is taken where the revision has no such thing to declare, and before connect', async () => {
    const { client } = await startAsking('legacy', {}, '2025-03-26');
    expect(() => client.onElicit(elicit)).not.toThrow();
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const early = new McpClient(info, { era: 'legacy' });
    onTestFinished(() => early.close());
    early.onElicit(elicit);
    await early.connect(server.factory);
    expect(server.requests('initialize')[0]?.params?.['capabilities']).toEqual({ elicitation: { form: {} } });
  });

  it('is declared to a modern server from the next request on', async () => {
    const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
    const client = await connect(server.factory);
    client.onElicit(elicit);
    await client.listTools();
    expect(server.requests('tools/list')[0]?.params).toMatchObject({
      _meta: { [META_CLIENT_CAPABILITIES]: { elicitation: { form: {} } } },
    });
  });
});
