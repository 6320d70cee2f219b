/**
 * Requests that come over a connection of `node:http` while the answer to an earlier one is not out (pipelining). Few clients do that, and for
 * those that do not nothing here runs.
 */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { NodeResponse, NodeSocket } from './node-types.ts';

/** How many of one connection are served at once, beside the one whose answer is going out. */
const MAX_SERVED = 16;
/** How many more may wait for their turn. Past it the connection is cut: its requests alone would take memory without end. */
const MAX_WAITING = 256;
/** An answer that lies unread is watched from here on; less than that costs a server little, and the kernel mostly takes it at once. */
export const WATCHED_BYTES: number = 64 * 1024;

/** A request whose answer waits for the one before it. */
export interface Pipelined {
  /** It is to be served now. */
  onTurn(): void;
  /** The connection is gone. */
  onLost(): void;
}

/** Where requests wait, and how long for one that is stuck. */
export interface PipelineSettings {
  readonly socket: NodeSocket;
  readonly stallMs: number;
  readonly clock: Clock;
}

/** The requests of one connection whose answers wait for others, in order. */
class Pipeline {
  readonly #socket: NodeSocket;
  readonly #stallMs: number;
  readonly #clock: Clock;
  readonly #members: Pipelined[] = [];
  #look: ClockTimer | undefined;
  #takenBytes = -1;

  constructor({ socket, stallMs, clock }: PipelineSettings) {
    this.#socket = socket;
    this.#stallMs = stallMs;
    this.#clock = clock;
    socket.once?.('close', this.#onClose);
  }

  add(member: Pipelined): void {
    if (this.#members.length >= MAX_SERVED + MAX_WAITING) {
      this.#socket.destroy?.();
      member.onLost();
      return;
    }
    this.#members.push(member);
    if (this.#members.length <= MAX_SERVED) member.onTurn();
    this.#look ??= this.#clock.schedule(this.#onLook, this.#stallMs);
  }

  /** Its answer goes out now, or needs to no more. */
  delete(member: Pipelined): void {
    const at = this.#members.indexOf(member);
    if (at === -1) return;
    this.#members.splice(at, 1);
    if (at < MAX_SERVED) this.#members[MAX_SERVED - 1]?.onTurn();
    if (this.#members.length === 0) this.#stopLooking();
  }

  #stopLooking(): void {
    this.#look?.cancel();
    this.#look = undefined;
    this.#takenBytes = -1;
  }

  readonly #onClose = (): void => {
    this.#stopLooking();
    for (const member of this.#members.splice(0)) member.onLost();
  };

  /** A short answer that its client does not take is not worth a watch, unless others wait for it. */
  readonly #onLook = (): void => {
    this.#look = undefined;
    const { bytesWritten = 0, writableLength = 0 } = this.#socket;
    const takenBytes = writableLength > 0 && writableLength < WATCHED_BYTES ? bytesWritten - writableLength : -1;
    if (takenBytes !== -1 && takenBytes === this.#takenBytes) {
      this.#socket.destroy?.();
      return;
    }
    this.#takenBytes = takenBytes;
    this.#look = this.#clock.schedule(this.#onLook, this.#stallMs);
  };
}

const pipelines = new WeakMap<NodeSocket, Pipeline>();

/** Lets a request whose response has no connection yet wait for its turn among those of its connection. */
export function enterPipeline(member: Pipelined, response: NodeResponse, settings: PipelineSettings): void {
  const { socket } = settings;
  if (socket.destroyed === true) return member.onLost();
  let pipeline = pipelines.get(socket);
  if (pipeline === undefined) pipelines.set(socket, (pipeline = new Pipeline(settings)));
  const leave = (): void => pipeline.delete(member);
  response.on('socket', leave);
  response.on('finish', leave);
  response.on('close', leave);
  pipeline.add(member);
}
