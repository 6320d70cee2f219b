/** `playServer`: answers a live client as a recorded server did. */

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonRpcMessage, JsonRpcRequest, Transport } from '@mortise/jsonrpc-core';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { describeRequest, type Entry, isRequest, isResponse } from './recording.ts';
import { toComparable } from './volatile.ts';

/** A recorded request, and what the server sent from then on until the next one. */
interface Exchange {
  readonly request: JsonRpcRequest;
  readonly sent: JsonRpcMessage[];
}

/** Requests that are answered whatever their params say: these name the client. */
const OPENING: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

/** Answers requests from a recording. Those that are alike are answered in the recorded order, and the last answer is given again. */
export class RecordedServer {
  readonly #exchanges: Exchange[] = [];
  readonly #used = new Set<Exchange>();
  /** What waits for the client's answer to a request of the server, by the request's id. */
  readonly #waiting = new Map<unknown, () => void>();
  readonly #transport: Transport;
  readonly #onUnknown: (request: JsonRpcRequest) => void;

  /** @param onUnknown Called for a request that the recording does not have. The client gets an error. */
  constructor(entries: readonly Entry[], transport: Transport, onUnknown: (request: JsonRpcRequest) => void) {
    for (const { from, message } of entries) {
      if (from === 'server') this.#ownerOf(message)?.sent.push(message);
      else if (isRequest(message)) this.#exchanges.push({ request: message, sent: [] });
    }
    this.#transport = transport;
    this.#onUnknown = onUnknown;
    transport.onmessage = (message) => this.#onMessage(message as JsonRpcMessage);
  }

  /** An answer belongs to its request, all else to the newest request. */
  #ownerOf(message: JsonRpcMessage): Exchange | undefined {
    if (!isResponse(message)) return this.#exchanges.at(-1);
    return this.#exchanges.find(({ request, sent }) => request.id === message.id && !sent.some(isResponse));
  }

  #onMessage(message: JsonRpcMessage): void {
    if (isResponse(message)) this.#waiting.get(message.id)?.();
    // The client may leave at any time.
    else if (isRequest(message)) void this.#answer(message).catch(() => undefined);
  }

  async #answer(live: JsonRpcRequest): Promise<void> {
    const exchange = this.#find(live);
    if (!exchange) {
      this.#onUnknown(live);
      const error = { code: METHOD_NOT_FOUND, message: `The recording has no ${describeRequest(live)} with these params` };
      return this.#transport.send({ jsonrpc: '2.0', id: live.id, error });
    }
    this.#used.add(exchange);
    for (const message of exchange.sent) {
      const isAnswered = isRequest(message) && new Promise<void>((resolve) => this.#waiting.set(message.id, resolve));
      await this.#transport.send(toLive(message, exchange.request, live));
      await isAnswered;
    }
  }

  #find({ method, params }: JsonRpcRequest): Exchange | undefined {
    const isAlike = ({ request }: Exchange): boolean =>
      request.method === method && (OPENING.has(method) || isDeepStrictEqual(toComparable(request.params), toComparable(params)));
    const alike = this.#exchanges.filter(isAlike);
    return alike.find((exchange) => !this.#used.has(exchange)) ?? alike.at(-1);
  }
}

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** A recorded message with the ids of the live request. */
function toLive(message: JsonRpcMessage, recorded: JsonRpcRequest, live: JsonRpcRequest): JsonRpcMessage {
  if (isResponse(message)) return { ...message, id: live.id };
  const [token, liveToken] = [recorded, live].map(({ params }) => (params?.['_meta'] as JsonObject | undefined)?.['progressToken']);
  return JSON.parse(JSON.stringify(message), (key, value: unknown) => {
    if (key === 'progressToken' && value === token) return liveToken;
    return key === SUBSCRIPTION_ID && value === recorded.id ? live.id : value;
  }) as JsonRpcMessage;
}
