/** A round-robin load balancer without affinity. It also notes which machine served what, so that the driver can say what a death may excuse. */

import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Names a call in its `_meta`, for the balancer. With ` cut` after the name, the balancer breaks the client's connection in the middle. */
export const CALL_KEY = 'many-machines/call';
/** Begins the answer to the question of a call, before its name. */
export const ANSWER_KEY = 'answer-';
const CALL = /"(?:many-machines\/call":"|text":"answer-)(\d+)( cut)?/;
/** How long after the first event of a stream its connection is cut. */
const CUT_MS = 200;
const EVENT_ID = /^id: ?(.+)$/gm;

/** A machine behind the balancer. */
export interface Target {
  readonly port: number;
  /** When the machine died, in milliseconds of `performance.now()`. */
  diedAtMs?: number;
}

/** A request that was part of a call: its POST, an answer to its question, or a GET that resumes its stream. */
export interface Passage {
  readonly method: string;
  readonly target: Target;
  readonly fromMs: number;
  toMs: number;
  status?: number;
}

/** An event stream of a user that was open. */
export interface OpenStream {
  readonly fromMs: number;
  toMs: number;
}

export class Balancer {
  /** The requests of each call, by what its `_meta` has under `CALL_KEY`. */
  readonly passagesOf = new Map<string, Passage[]>();
  /** The streams of each user on which changes arrive. */
  readonly streamsOf = new Map<string, OpenStream[]>();
  /** How many requests that named a session got 404. */
  lostSessions = 0;
  /** How often connections to machines broke, by the error's code. */
  readonly errors = new Map<string, number>();
  targets: readonly Target[] = [];
  /** The call on whose stream each event was sent. */
  readonly #callOf = new Map<string, string>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));
  #next = 0;

  async listen(): Promise<string> {
    // Clients decide how long they keep a connection, as browsers and SDKs expect of a balancer.
    this.#server.keepAliveTimeout = 75_000;
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Buffer[] = [];
    for await (const part of request) body.push(part as Buffer);
    const text = Buffer.concat(body);
    for (let tries = this.targets.length; tries > 0; tries--) {
      const target = this.targets[this.#next++ % this.targets.length];
      if (target !== undefined && (await this.#pass(target, request, text, response))) return;
    }
    if (!response.headersSent) response.writeHead(502).end();
  }

  /** @returns Whether the machine accepted the connection; otherwise nothing was sent, and another may be tried. */
  #pass(target: Target, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<boolean> {
    const { method = '', url, headers } = request;
    const [, named, cut] = CALL.exec(body.toString()) ?? [];
    const call = named ?? this.#callOf.get(String(headers['last-event-id']));
    const passage: Passage = { method, target, fromMs: performance.now(), toMs: Infinity };
    if (call !== undefined) this.passagesOf.set(call, [...(this.passagesOf.get(call) ?? []), passage]);
    return new Promise((resolve) => {
      const options = { port: target.port, host: '127.0.0.1', method, path: url, headers, agent: this.#agent };
      const passed = send(options, (answer) => {
        resolve(true);
        passage.status = answer.statusCode ?? 502;
        if (answer.statusCode === 404 && headers['mcp-session-id'] !== undefined) this.lostSessions++;
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        if (call !== undefined) this.#noteEvents(call, answer, cut === undefined ? undefined : response);
        // A machine that dies in the middle: so does the connection to the client.
        answer.on('close', () => void (answer.complete || response.destroy()));
        if (isForChanges(request, body) && answer.statusCode === 200) this.#note(headers.authorization ?? '', response);
      });
      response.on('close', () => {
        passage.toMs = performance.now();
        passed.destroy();
      });
      passed.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' || (error.code === 'ECONNRESET' && passed.reusedSocket && method === 'GET'))
          return resolve(false);
        resolve(true);
        if (target.diedAtMs === undefined && !response.destroyed) this.errors.set(String(error), (this.errors.get(String(error)) ?? 0) + 1);
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      });
      passed.end(body);
    });
  }

  /** @param cut The response to break, a moment after its first event. */
  #noteEvents(call: string, answer: IncomingMessage, cut: ServerResponse | undefined): void {
    let text = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    answer.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      for (const [, id = ''] of text.matchAll(EVENT_ID)) {
        this.#callOf.set(id, call);
        if (cut) timer ??= setTimeout(() => cut.destroy(), CUT_MS);
      }
      text = text.slice(text.lastIndexOf('\n') + 1);
    });
  }

  #note(authorization: string, response: ServerResponse): void {
    const stream: OpenStream = { fromMs: performance.now(), toMs: Infinity };
    const user = authorization.replace('Bearer ', '');
    this.streamsOf.set(user, [...(this.streamsOf.get(user) ?? []), stream]);
    response.on('close', () => (stream.toMs = performance.now()));
  }
}

/** Whether changes arrive on the answer: that of a GET, or of a listen. */
function isForChanges({ method }: IncomingMessage, body: Buffer): boolean {
  return method === 'GET' || body.includes('"subscriptions/listen"');
}
