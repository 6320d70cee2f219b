/** Answers the questions of one task, each once, however often the server lists it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import { TaskInputError } from '../errors.ts';

/** The most open questions of one task. */
const MAX_QUESTIONS = 100;

/** The methods that a task may ask with: those that a server may send without a task. */
const METHODS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** What `InputAnswers` needs. */
export interface InputAnswersParts {
  /** Calls the program's handler. */
  answer(ask: Ask): Promise<JsonObject>;
  send(inputResponses: JsonObject, signal: AbortSignal): Promise<void>;
  /** Called if a question cannot be answered. */
  onFailed(error: TaskInputError): void;
}

interface Question {
  readonly controller: AbortController;
  /** Set once the program has answered. */
  answer?: JsonObject;
  /** Whether the answer is on its way to the server, or has arrived. */
  isSent: boolean;
}

export class InputAnswers {
  readonly #parts: InputAnswersParts;
  /** By key, for the whole life of the task: a server uses each key for one question only. */
  readonly #questions = new Map<string, Question>();
  #outstanding: ReadonlySet<string> = new Set();

  constructor(parts: InputAnswersParts) {
    this.#parts = parts;
  }

  /** Takes the open questions that the server lists: asks the program the new ones, and aborts those that are no longer listed. */
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
        new TaskInputError(`the task asks ${entries.length} questions at once: this client answers at most ${MAX_QUESTIONS}`, ''),
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
      if (typeof method !== 'string' || !METHODS.has(method)) throw new Error('this method is not a question that MCP has');
      question.answer = await this.#parts.answer({ method, params: isJsonObject(params) ? params : {}, signal });
    } catch (error) {
      if (signal.aborted) return;
      // Forgotten, so that the next caller who waits is asked again.
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
      // Sent again when the server next lists the question. A server ignores a second answer.
      question.isSent = false;
    }
  }
}
