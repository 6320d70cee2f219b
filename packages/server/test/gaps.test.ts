/** Two servers over a message bus that is slow, and loses what is published while a machine is cut off from it. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { MemoryMessageBus } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { LossyBus } from '@mortise/transport-testkit/wrap';
import { LEGACY, MODERN, RawPeer, type Version } from './raw-peer.ts';

const URI = 'test://r';
const UPDATED = 'notifications/resources/updated';

interface Node {
  readonly messageBus: LossyBus;
  readonly server: McpServer;
}

function startTwo(): { readonly here: Node; readonly there: Node } {
  const backend = new MemoryMessageBus();
  const start = (): Node => {
    const messageBus = new LossyBus(backend, { delayMs: 5 });
    const server = new McpServer({ name: 'node', version: '1' }, { messageBus });
    server.registerResource('r', URI, {}, () => 'r');
    return { messageBus, server };
  };
  return { here: start(), there: start() };
}

/** Opens a client that listens to the resource. */
async function listen(server: McpServer, version: Version): Promise<RawPeer> {
  const peer = await RawPeer.open(server, version);
  onTestFinished(() => peer.close());
  if (version === MODERN) {
    void peer.request('subscriptions/listen', { notifications: { resourceSubscriptions: [URI], resourcesListChanged: true } });
    await peer.nextNotification('notifications/subscriptions/acknowledged');
  } else await peer.call('resources/subscribe', { uri: URI });
  return peer;
}

describe.each([...LEGACY, MODERN] as const)('a client of %s, with a message bus between two servers,', (version) => {
  it('[RES-013][SUB-003] receives each change at the other server from the acknowledgement of its subscription on', async () => {
    const { here, there } = startTwo();
    const peer = await listen(here.server, version);
    await there.server.sendResourceUpdated({ uri: URI });
    expect((await peer.nextNotification(UPDATED)).params).toMatchObject({ uri: URI });
  });

  it('[ROBUSTNESS-20] receives a change after a gap, so that it reads again, and each later change', async () => {
    const { here, there } = startTwo();
    const peer = await listen(here.server, version);
    here.messageBus.cut();
    await there.server.sendResourceUpdated({ uri: URI });
    here.messageBus.mend();
    expect((await peer.nextNotification(UPDATED)).params).toMatchObject({ uri: URI });
    if (version === MODERN) await peer.nextNotification('notifications/resources/list_changed');
    await there.server.sendResourceUpdated({ uri: URI });
    expect((await peer.nextNotification(UPDATED)).params).toMatchObject({ uri: URI });
  });

  it('[ROBUSTNESS-20] gets an error, and no subscription, where the message bus fails', async () => {
    const { here } = startTwo();
    const peer = await RawPeer.open(here.server, version);
    onTestFinished(() => peer.close());
    here.messageBus.cut();
    const [method, params] =
      version === MODERN
        ? ['subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } }]
        : ['resources/subscribe', { uri: URI }];
    expect((await peer.request(method, params)).error?.code).toBe(-32603);
    expect(peer.notifications('notifications/subscriptions/acknowledged')).toEqual([]);
    here.messageBus.mend();
    const again = await listen(here.server, version);
    expect(again.notifications(UPDATED)).toEqual([]);
  });
});
