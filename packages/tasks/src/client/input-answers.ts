/** The questions of one task: each is answered once, however often the server shows it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import { TaskInputError } from '../errors.ts';

/** How many questions may be open at once. */
const MAX_QUESTIONS = 100;

/** What a task may ask: the same that a server may ask without one. */
const METHODS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** What the answers need. */
export interface InputAnswersParts {
  /** The program's own handlers. */
  answer(ask: Ask): Promise<JsonObject>;
  send(inputResponses: JsonObject, signal: AbortSignal): Promise<void>;
  /** A question cannot be answered. */
  onFailed(error: TaskInputError): void;
}

interface Question {
  readonly controller: AbortController;
  /** Set once the program has answered. */
  answer?: JsonObject;
  /** On its way to the server, or there. */
  isSent: boolean;
}

export class InputAnswers {
  readonly #parts: InputAnswersParts;
  /** By key, over the whole life of the task: a key is never used for another question. */
  readonly #questions = new Map<string, Question>();
  #outstanding: ReadonlySet<string> = new Set();

  constructor(parts: InputAnswersParts) {
    this.#parts = parts;
  }

  /** Takes what the server shows as outstanding now: asks the program what is new, aborts what was withdrawn. */
  offer(inputRequests: JsonObject): void {
    const entries = Object.entries(inputRequests);
    this.#outstanding = new Set(entries.map(([key]) => key));
    for (const [key, { controller, isSent }] of this.#questions) {
      if (isSent || this.#outstanding.has(key)) continue;
      controller.abort(new TaskInputError('the task no longer waits for this answer', ''));
      this.#questions.delete(key);
    }
    if (entries.length > MAX_QUESTIONS) {
      this.#parts.onFailed(
        new TaskInputError(`the task asks ${entries.length} questions at once: ${MAX_QUESTIONS} are answered at most`, ''),
      );
      return;
    }
    for (const [key, request] of entries) {
      const known = this.#questions.get(key);
      if (!known) void this.#ask(key, request);
      // The answer is there but did not get through.
      else if (known.answer && !known.isSent) void this.#send(key, known);
    }
  }

  /** Aborts every question. */
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
      if (typeof method !== 'string' || !METHODS.has(method)) throw new Error('servers do not ask this');
      question.answer = await this.#parts.answer({ method, params: isJsonObject(params) ? params : {}, signal });
    } catch (error) {
      if (signal.aborted) return;
      // The next one who waits for the task gets the question again.
      this.#questions.delete(key);
      const text = `the task asks for "${String(method)}" (${key}), which was not answered: set a handler for it, or see the cause`;
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
      // Sent again when the server next shows the question: it passes over an answer that it has.
      question.isSent = false;
    }
  }
}
