/** Answers a task's input requests (elicitation, sampling, roots), each of them once, however often the server lists it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import { TaskInputError } from '../errors.ts';

/** The most input requests of one task that may wait for an answer at once. */
const MAX_QUESTIONS = 100;

/** The methods of the input requests that a task may make: the same requests that a server may send to a client without a task. */
const METHODS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** The functions with which `InputAnswers` gets an answer, sends it to the server, and reports a failure. */
export interface InputAnswersParts {
  /** Gets the answer to an input request of a task from the handler that the program set on its client. */
  answer(ask: Ask): Promise<JsonObject>;
  send(inputResponses: JsonObject, signal: AbortSignal): Promise<void>;
  /** Called if an input request of the task cannot be answered, because its handler threw or there is no handler. */
  onFailed(error: TaskInputError): void;
}

interface Question {
  readonly controller: AbortController;
  /** The answer of the program's handler to this input request; absent until the handler has resolved. */
  answer?: JsonObject;
  /** Whether the answer to this input request is on its way to the server, or has arrived there. */
  isSent: boolean;
}

export class InputAnswers {
  readonly #parts: InputAnswersParts;
  /** The task's input requests by key, kept for the whole life of the task: a server uses each key for one input request only. */
  readonly #questions = new Map<string, Question>();
  #outstanding: ReadonlySet<string> = new Set();

  constructor(parts: InputAnswersParts) {
    this.#parts = parts;
  }

  /** Handles the input requests that the server lists now: starts to answer the new ones, and aborts those that are no longer listed. */
  offer(inputRequests: JsonObject): void {
    const entries = Object.entries(inputRequests);
    this.#outstanding = new Set(entries.map(([key]) => key));
    for (const [key, { controller, isSent }] of this.#questions) {
      if (isSent || this.#outstanding.has(key)) continue;
      controller.abort(new TaskInputError('the server no longer lists this input request: it needs no answer any more', ''));
      this.#questions.delete(key);
    }
    if (entries.length > MAX_QUESTIONS) {
      this.#parts.onFailed(
        new TaskInputError(`the task has ${entries.length} open input requests: this client answers at most ${MAX_QUESTIONS} at once`, ''),
      );
      return;
    }
    for (const [key, request] of entries) {
      const known = this.#questions.get(key);
      if (!known) void this.#ask(key, request);
      // The program has answered, but sending the answer failed.
      else if (known.answer && !known.isSent) void this.#send(key, known);
    }
  }

  /** Aborts every handler that is still answering an input request of the task. */
  close(reason: unknown): void {
    for (const { controller } of this.#questions.values()) controller.abort(reason);
  }

  async #ask(key: string, request: unknown): Promise<void> {
    const question: Question = { controller: new AbortController(), isSent: false };
    this.#questions.set(key, question);
    const method = isJsonObject(request) ? request['method'] : undefined;
    const params = isJsonObject(request) ? request['params'] : undefined;
    const { signal } = question.controller;
    try {
      if (typeof method !== 'string' || !METHODS.has(method))
        throw new Error('the task sent an unknown input request: a task may request only elicitation, sampling or roots');
      question.answer = await this.#parts.answer({ method, params: isJsonObject(params) ? params : {}, signal });
    } catch (error) {
      if (signal.aborted) return;
      // Forgotten, so that the handler is called again for the next caller who waits for the result.
      this.#questions.delete(key);
      const text = `the task's input request "${String(method)}" (${key}) was not answered: set a handler for it, or see the cause`;
      this.#parts.onFailed(new TaskInputError(text, String(method), { cause: error }));
      return;
    }
    if (!signal.aborted && this.#outstanding.has(key)) await this.#send(key, question);
  }

  async #send(key: string, question: Question): Promise<void> {
    question.isSent = true;
    try {
      await this.#parts.send({ [key]: question.answer ?? {} }, question.controller.signal);
    } catch {
      // Sent again when the server next lists the input request. A server ignores a second answer.
      question.isSent = false;
    }
  }
}
