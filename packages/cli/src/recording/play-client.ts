/** `playClient`: sends what a recorded client sent to a live server, and compares what it answers. */

import { isDeepStrictEqual } from 'node:util';
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, Transport } from '@mortise/jsonrpc-core';
import { CliError, ExitCode } from '../errors.ts';
import { Arrivals } from './arrivals.ts';
import { type Entry, isRequest, isResponse } from './recording.ts';
import { substitute, toComparable, VolatileValues } from './volatile.ts';

/** A request of the recording, with both of its answers. */
export interface Compared {
  readonly request: JsonRpcRequest;
  readonly recorded: JsonRpcResponse;
  readonly live: JsonRpcResponse;
  readonly isSame: boolean;
}

/**
 * Plays the client of a recording: sends each of its messages as soon as all has arrived that had arrived when it was recorded.
 *
 * @param timeoutMs How long one message of the server may take.
 * @throws {CliError} The server does not send what the recording waits for, or the connection ends.
 */
export async function* playClient(
  entries: readonly Entry[],
  transport: Transport,
  timeoutMs: number,
  signal?: AbortSignal,
): AsyncGenerator<Compared> {
  const arrivals = new Arrivals(transport, timeoutMs, signal);
  const values = new VolatileValues();
  const sent = new Map<unknown, JsonRpcRequest>();
  /** The live ids of the server's requests, by their recorded ids. */
  const liveIds = new Map<unknown, string | number>();
  await transport.start();
  for (const { from, message } of entries) {
    if (from === 'client') {
      if (isRequest(message)) sent.set(message.id, message);
      const id = isResponse(message) ? liveIds.get(message.id) : undefined;
      const sending = transport.send({ ...substitute(message, values), ...(id !== undefined && { id }) } as JsonRpcMessage);
      // Over HTTP the sending of a request ends with its answer. What fails is missed where its answer is waited for.
      sending.catch(arrivals.onError);
      if (!('id' in message)) await sending;
    } else if (isRequest(message)) liveIds.set(message.id, (await arrivals.nextRequest(message.method)).id);
    else if (isResponse(message)) {
      const request = sent.get(message.id);
      if (!request) throw new CliError(`The recording has an answer with the id ${message.id}, but no such request`, ExitCode.usage);
      const live = await arrivals.response(message.id, request.method);
      values.learn(message, live);
      yield { request, recorded: message, live, isSame: isDeepStrictEqual(toComparable(message), toComparable(live)) };
    }
  }
}
