/** One secret of a cluster, from which its servers derive the key of `requestState`. */

import { describe, expect, it } from 'vitest';
import { MemoryMessageBus } from '@mortise/protocol';
import { McpServer, type McpServerOptions } from '@mortise/server';
import { MemoryLogger } from '../support.ts';
import { answerTo, askName, open } from './chain.ts';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);

/** Begins a call at one machine, and brings its answer to another. */
async function continueAt(first: McpServerOptions, second: McpServerOptions) {
  const [here, there] = [await open((ctx) => askName(ctx, 'a'), first), await open((ctx) => askName(ctx, 'a'), second)];
  const { result } = await here.request('tools/call', { name: 'run' });
  return there.request('tools/call', { name: 'run', ...answerTo(result) });
}

describe('the option clusterKey', () => {
  it('[ROBUSTNESS-15] lets another machine with the same secret continue a call, and no machine with another secret', async () => {
    expect((await continueAt({ clusterKey: key(1) }, { clusterKey: key(1) })).result.content[0].text).toBe('a');
    expect((await continueAt({ clusterKey: key(1) }, { clusterKey: key(2) })).error?.code).toBe(-32602);
    expect((await continueAt({ clusterKey: key(1) }, {})).error?.code).toBe(-32602);
  });

  it('[ROBUSTNESS-15] is not itself the key, and gives way to requestState.keys', async () => {
    const requestState = { keys: [key(1)] };
    expect((await continueAt({ clusterKey: key(1) }, { requestState })).error?.code).toBe(-32602);
    expect((await continueAt({ clusterKey: key(2), requestState }, { requestState })).result.content[0].text).toBe('a');
  });

  it('must be at least 32 bytes', () => {
    for (const clusterKey of [new Uint8Array(31), 'x'.repeat(32), {}])
      expect(() => new McpServer({ name: 's', version: '1' }, { clusterKey } as never)).toThrow(/clusterKey/);
  });

  it('is missed in one warning by a server with a message bus, unless it has keys', () => {
    const warningsOf = (options: McpServerOptions): readonly unknown[] => {
      const logger = new MemoryLogger();
      new McpServer({ name: 's', version: '1' }, { messageBus: new MemoryMessageBus(), logger, ...options });
      return logger.lines.map(({ message }) => message);
    };
    expect(warningsOf({})).toEqual([expect.stringContaining('no clusterKey')]);
    expect(warningsOf({ clusterKey: key(1) })).toEqual([]);
    expect(warningsOf({ requestState: { keys: [key(1)] } })).toEqual([]);
  });
});
