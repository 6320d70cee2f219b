/** The server that is fuzzed behind HTTP: a POST a frame, by bare `node:http`. */

import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import { serveHttp } from '@mortise/transport-http/node';
import type { FuzzChannel, OpenChannel } from './fuzz-channel.ts';
import { createFuzzServer } from './fuzz-server.ts';
import type { Frame } from './message-source.ts';
import type { Json } from './mutate.ts';

const MAX_AT_ONCE = 64;
const META = 'io.modelcontextprotocol/protocolVersion';

/** One server object on one port for all connections. */
export function createHttpOpener(): OpenChannel {
  let serving: Promise<{ readonly url: string }> | undefined;
  return async (onMessage) => {
    serving ??= serveHttp(createFuzzServer(), { port: 0 }).then((opened) => {
      // The fuzzer ends with the process.
      opened.server.unref();
      // Both ends are this process: one that stands still for five seconds must not find its idle connections ended when it goes on.
      opened.server.keepAliveTimeout = 0;
      return opened;
    });
    return new HttpChannel((await serving).url, onMessage);
  };
}

class HttpChannel implements FuzzChannel {
  readonly #url: string;
  readonly #onMessage: (message: Json) => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_AT_ONCE });
  readonly #open = new Set<ClientRequest>();
  readonly #problems: string[] = [];
  #sessionId: string | undefined;
  #isOpened = false;
  #makeRoom: (() => void) | undefined;

  constructor(url: string, onMessage: (message: Json) => void) {
    this.#url = url;
    this.#onMessage = onMessage;
  }

  async send(frame: Frame): Promise<boolean> {
    const answered = this.#post(frame);
    // Only the first message opens a session, and everything after it names the session.
    if (!this.#isOpened) await answered;
    this.#isOpened = true;
    // Listens stay open and take no part in this.
    if (this.#open.size >= MAX_AT_ONCE) await Promise.race([new Promise<void>((resolve) => (this.#makeRoom = resolve)), answered]);
    return true;
  }

  /** Over HTTP a batch holds requests or responses, never both, and no `initialize`: 400 otherwise. */
  refusesBatch(members: readonly Json[]): boolean {
    const kinds = new Set(members.map((member) => classifyMessage(member)));
    return (kinds.has('response') && kinds.has('request')) || members.some((member) => toObject(member)['method'] === 'initialize');
  }

  async close(): Promise<string | undefined> {
    for (const open of this.#open) open.destroy();
    if (this.#sessionId !== undefined) {
      const status = await this.#call('DELETE', {}, new Uint8Array()).catch((error: Error) => error.message);
      if (status !== 200 && status !== 204) this.#problems.push(`the session could not be ended: ${status}`);
    }
    this.#agent.destroy();
    return this.#problems[0];
  }

  async #post({ bytes, value }: Frame): Promise<void> {
    try {
      await this.#call('POST', toHeaders(value), bytes);
    } catch (error) {
      // Whoever closes cuts what is open.
      if (!(error instanceof Cut)) this.#problems.push(`a POST failed: ${String(error)}`);
    }
  }

  /** @returns The status, once the whole answer has come. */
  #call(method: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request(this.#url, {
        agent: this.#agent,
        method,
        headers: {
          ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': String(body.length),
          ...headers,
        },
      });
      this.#open.add(call);
      const settle = (fn: () => void): void => {
        this.#open.delete(call);
        this.#makeRoom?.();
        fn();
      };
      call.on('error', (error) => settle(() => reject(call.destroyed && call.reusedSocket === undefined ? new Cut() : error)));
      call.on('close', () => {
        if (this.#open.has(call)) settle(() => reject(new Cut()));
      });
      call.on('response', (response) => {
        this.#sessionId ??= single(response.headers['mcp-session-id']);
        this.#read(response, () => settle(() => resolve(response.statusCode ?? 0)));
      });
      call.end(body);
    });
  }

  #read(response: IncomingMessage, done: () => void): void {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    let rest = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      rest += chunk;
      if (!isStream) return;
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) this.#tellEvent(event);
    });
    response.on('error', () => undefined);
    response.on('end', () => {
      if (!isStream && rest !== '') this.#onMessage(JSON.parse(rest) as Json);
      done();
    });
  }

  #tellEvent(event: string): void {
    const data = event
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trim())
      .join('\n');
    if (data !== '') this.#onMessage(JSON.parse(data) as Json);
  }
}

class Cut extends Error {}

/** What a modern request says in headers, so that it is its body which is fuzzed. */
function toHeaders(value: Json | undefined): Record<string, string> {
  const message = toObject(value);
  const params = toObject(message['params']);
  const version = toObject(params['_meta'])[META];
  if (typeof version !== 'string') return {};
  const headers: Record<string, string> = { 'mcp-protocol-version': toValue(version) };
  if (typeof message['method'] === 'string') headers['mcp-method'] = toValue(message['method']);
  const name = message['method'] === 'resources/read' ? params['uri'] : params['name'];
  if (typeof name === 'string') headers['mcp-name'] = toValue(name);
  return headers;
}

/** What a header cannot carry as it is travels in base64. */
function toValue(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function toObject(value: Json | undefined): { readonly [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
