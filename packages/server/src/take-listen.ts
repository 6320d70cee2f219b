/** How much one connection may listen to. Over HTTP each listen is a stream of its own, which the transport bounds. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Call } from '@mortise/protocol/contracts';
import { ChannelCall, type CallOwner } from './channel-call.ts';
import type { ServerOptions } from './options.ts';
import { requireShortInSum } from './subscribed-uri.ts';

interface Used {
  listens: number;
  uris: number;
  /** Of the URIs. */
  characters: number;
}

const usedBy = new WeakMap<CallOwner, Used>();

/**
 * Takes one listen to some resources from what a connection may have.
 *
 * @returns Gives it back.
 * @throws {ProtocolError} -32602 or -32603: there would be more than `maxSubscriptions` resources, their URIs would be too long, or there would be
 *   more than `maxListens` listens.
 */
export function takeListen(host: Call, uris: readonly unknown[], options: ServerOptions): () => void {
  const owner = host instanceof ChannelCall ? host.owner : undefined;
  const used = (owner && usedBy.get(owner)) ?? { listens: 0, uris: 0, characters: 0 };
  const { maxSubscriptions = 1000, maxListens = 100 } = options;
  const count = uris.length;
  const characters = uris.reduce<number>((sum, uri) => sum + String(uri).length, 0);
  if (used.uris + count > maxSubscriptions) throw new ProtocolError(INVALID_PARAMS, tooManyUris(count, used.uris, maxSubscriptions));
  requireShortInSum(used.characters + characters, maxSubscriptions);
  if (used.listens >= maxListens) {
    throw new ProtocolError(
      INTERNAL_ERROR,
      `This connection has ${maxListens} listens open, which is the most: cancel one first, or name more in one (the server's option "maxListens")`,
    );
  }
  used.listens += 1;
  used.uris += count;
  used.characters += characters;
  if (owner) usedBy.set(owner, used);
  return () => {
    used.listens -= 1;
    used.uris -= count;
    used.characters -= characters;
  };
}

function tooManyUris(wanted: number, used: number, max: number): string {
  const others = used === 0 ? '' : ` and the connection's other listens name ${used}`;
  return `resourceSubscriptions names ${wanted} resources${others}: at most ${max} on one connection (the server's option "maxSubscriptions")`;
}
