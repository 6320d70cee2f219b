/** What is sent for a request that has been answered. */

import { afterEach, describe, expect, it } from 'vitest';
import { LegacyClient } from '../support/legacy-client.ts';
import { modernTool } from '../support/modern.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { progress, ScriptedEndpoint } from '../support/scripted-endpoint.ts';

const ASK = { jsonrpc: '2.0', id: 'late', method: 'roots/list' } as const;
const LEGACIES = [
  ['2025-06-18', {}],
  ['2025-11-25', {}],
  ['2025-11-25', { eventStore: new TestEventStore() }],
] as const;

let serving: Serving;
afterEach(() => serving.close());

describe.each(FACES)('what is sent after an answer over the %s face', (face) => {
  it('[PROG-008] is dropped in the modern era, and opens no stream', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    await (await modernTool(serving.port, 'echo')).response();
    await endpoint.calls[0]?.send(progress('t', 1));
    expect(serving.handler.counts.streams).toBe(0);
  });

  it.each(LEGACIES)(
    '[ROBUSTNESS-5] reaches nobody in %s where it asks, and is dropped where it does not, with %o',
    async (version, options) => {
      const endpoint = new ScriptedEndpoint();
      serving = await serve(face, endpoint, options);
      const client = await LegacyClient.open(serving.port, version);
      await (await client.tool('echo')).response();
      const [call] = endpoint.calls;
      await call?.send(progress('t', 1));
      call?.closeStream?.();
      await expect(call?.send(ASK)).rejects.toMatchObject({ code: 'ERR_NO_STREAM', message: expect.stringContaining('is sent') });
      expect(serving.handler.counts.streams).toBe(0);
    },
  );

  it.each(LEGACIES)('takes the GET stream in %s where it asks and there is one, with %o', async (version, options) => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, options);
    const client = await LegacyClient.open(serving.port, version);
    const get = await client.get();
    await (await client.tool('echo')).response();
    await endpoint.calls[0]?.send(ASK);
    expect(await get.nextMessage()).toEqual(ASK);
  });
});
