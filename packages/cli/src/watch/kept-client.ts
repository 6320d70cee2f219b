/** `KeptClient`: the client of a transport whose server is replaced when its file changes. */

import {
  type Connectable,
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { isRequest, isResponse } from '../recording/recording.ts';

const LISTS = ['tools', 'resources', 'prompts'] as const;

/**
 * Keeps a client connected while its server is replaced.
 *
 * The next server gets the `initialize` and each open `subscriptions/listen` that the client had sent, and the client gets a `list_changed`
 * notification for each list. Other requests in flight fail, because their handlers are gone.
 */
export class KeptClient {
  /** Resolves when the client has left, or the server has closed the connection. */
  readonly closed: Promise<void>;
  readonly #transport: Transport;
  readonly #inFlight = new Map<RequestId, JsonRpcRequest>();
  #face: Face | undefined;
  #initialize: JsonRpcRequest | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
    transport.onmessage = (message, info) => {
      this.#remember(message as JsonRpcMessage);
      this.#face?.onmessage?.(message, info);
    };
    transport.onerror = (error) => this.#face?.onerror?.(error);
    this.closed = new Promise((resolve) => {
      transport.onclose = () => {
        this.#face?.onclose?.();
        resolve();
      };
    });
  }

  /** Connects a server in the place of the last one. @throws What the server's `connect` throws. */
  async connect(server: Connectable): Promise<void> {
    const last = this.#face;
    const face = new Face(this.#transport, (message) => this.#onSend(face, message), last !== undefined);
    this.#face = face;
    last?.onclose?.();
    const error = { code: INTERNAL_ERROR, message: 'The server was loaded again before it answered' };
    const requests = [...this.#inFlight.values()];
    const listens = requests.filter(({ method }) => method === 'subscriptions/listen');
    for (const request of requests) {
      if (listens.includes(request)) continue;
      this.#inFlight.delete(request.id);
      await this.#transport.send({ jsonrpc: '2.0', id: request.id, error });
    }
    await server.connect(face);
    if (this.#initialize) await this.#sendListChanges(await face.open(this.#initialize));
    for (const listen of listens) {
      face.onmessage?.(listen);
      await this.#sendSubscribedChanges(listen);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #remember(message: JsonRpcMessage): void {
    if ('method' in message && message.method === 'notifications/cancelled')
      this.#inFlight.delete(message.params?.['requestId'] as RequestId);
    if (!isRequest(message)) return;
    this.#inFlight.set(message.id, message);
    if (message.method === 'initialize') this.#initialize = message;
  }

  #onSend(face: Face, message: JsonRpcMessage): void {
    if (face !== this.#face) throw new ConnectionClosedError('The server was replaced');
    if (isResponse(message) && message.id !== undefined) this.#inFlight.delete(message.id);
  }

  async #sendListChanges(initialized: JsonRpcResponse): Promise<void> {
    const capabilities = 'result' in initialized ? Object(initialized.result['capabilities']) : {};
    for (const list of LISTS)
      if (capabilities[list]?.listChanged === true)
        await this.#transport.send({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` });
  }

  async #sendSubscribedChanges({ id, params }: JsonRpcRequest): Promise<void> {
    const wish = Object(params?.['notifications']);
    for (const list of LISTS) {
      if (wish[`${list}ListChanged`] !== true) continue;
      const method = `notifications/${list}/list_changed`;
      await this.#transport.send({ jsonrpc: '2.0', method, params: { _meta: { [META_SUBSCRIPTION_ID]: id } } });
    }
  }
}

/** What one server sees of the transport. */
class Face implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #transport: Transport;
  readonly #onSend: (message: JsonRpcMessage) => void;
  readonly #isStarted: boolean;
  #onOpened: ((response: JsonRpcResponse) => void) | undefined;

  /**
   * @param onSend Called before a message is sent. It may throw.
   * @param isStarted Whether an earlier server has started the transport.
   */
  constructor(transport: Transport, onSend: (message: JsonRpcMessage) => void, isStarted: boolean) {
    this.#transport = transport;
    this.#onSend = onSend;
    this.#isStarted = isStarted;
  }

  async start(): Promise<void> {
    if (!this.#isStarted) await this.#transport.start();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    this.#onSend(message);
    if (this.#onOpened && isResponse(message)) {
      this.#onOpened(message);
      this.#onOpened = undefined;
    } else await this.#transport.send(message);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** Opens the session again. @returns What the server answers; the client does not get it. */
  async open(initialize: JsonRpcRequest): Promise<JsonRpcResponse> {
    const opened = new Promise<JsonRpcResponse>((resolve) => (this.#onOpened = resolve));
    this.onmessage?.(initialize);
    const response = await opened;
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return response;
  }
}
