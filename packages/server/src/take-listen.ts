/** How much one connection may listen to. Over HTTP each listen is a stream of its own, which the transport bounds. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { ExchangeCall } from '@mortise/protocol/contracts';
import { ChannelCall, type CallOwner } from './channel-call.ts';
import type { ServerOptions } from './options.ts';

interface Used {
  listens: number;
  uris: number;
}

const usedBy = new WeakMap<CallOwner, Used>();

/**
 * Takes one listen to `uris` resources from what a connection may have.
 *
 * @returns Gives it back.
 * @throws {ProtocolError} -32602 or -32603: there would be more than `maxSubscriptions` resources, or `maxListens` listens.
 */
export function takeListen(host: ExchangeCall, uris: number, options: ServerOptions): () => void {
  const owner = host instanceof ChannelCall ? host.owner : undefined;
  const used = (owner && usedBy.get(owner)) ?? { listens: 0, uris: 0 };
  const { maxSubscriptions = 1000, maxListens = 100 } = options;
  if (used.uris + uris > maxSubscriptions) throw new ProtocolError(INVALID_PARAMS, tooManyUris(uris, used.uris, maxSubscriptions));
  if (used.listens >= maxListens) {
    throw new ProtocolError(
      INTERNAL_ERROR,
      `This connection has ${maxListens} listens open, which is the most: cancel one first, or name more in one (the server's option "maxListens")`,
    );
  }
  used.listens += 1;
  used.uris += uris;
  if (owner) usedBy.set(owner, used);
  return () => {
    used.listens -= 1;
    used.uris -= uris;
  };
}

function tooManyUris(wanted: number, used: number, max: number): string {
  const others = used === 0 ? '' : ` and the connection's other listens name ${used}`;
  return `resourceSubscriptions names ${wanted} resources${others}: at most ${max} on one connection (the server's option "maxSubscriptions")`;
}
