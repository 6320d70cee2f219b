/** Error -32042: shows the user the pages that must be opened first, and waits for the server's word that they are done with. */

import type { Clock, RemoteError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ElicitRequestURLParams } from '@mortise/protocol/model';
import type { Answers } from '../answers.ts';
import { UrlElicitationRequiredError } from '../errors.ts';

/** What showing pages needs beside the error. */
export interface RequiredPagesParts {
  readonly method: string;
  readonly answers: Answers;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly round: number;
  readonly maxRounds: number;
}

/**
 * Resolves when the request may be sent again: all pages were agreed to, and are done with or have had their time.
 *
 * @throws {RemoteError} The error itself, where it names no page.
 * @throws {UrlElicitationRequiredError} There is no handler for pages, the user did not agree, or it happened too often.
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export async function showRequiredPages(error: RemoteError, parts: RequiredPagesParts): Promise<void> {
  const { method, answers, signal, clock, round, maxRounds } = parts;
  const pages = readPages(error);
  if (pages.length === 0) throw error;
  const fail = (why: string): UrlElicitationRequiredError =>
    new UrlElicitationRequiredError(`"${method}" needs the user to open a page first: ${why}`, pages, { cause: error });
  if (!answers.canShowPages) throw fail('give elicitation.url to have it shown, or show it and call again');
  if (round > maxRounds) throw fail(`this came ${maxRounds} times: raise maxInputRounds if that is right`);
  const answerer = await answers.answerer;
  const call = { method: 'elicitation/create', signal: signal ?? new AbortController().signal };
  const waits: Promise<void>[] = [];
  for (const page of pages) {
    waits.push(answerer?.pages.open(page.elicitationId) ?? Promise.resolve());
    const { action } = await abortable(answers.answer(call.method, page, call), signal);
    if (action !== 'accept') throw fail(`the user said ${JSON.stringify(action)}`);
  }
  await untilDone(Promise.all(waits), answers.pageTimeoutMs, clock, signal);
}

function readPages({ data }: RemoteError): readonly ElicitRequestURLParams[] {
  const given = isJsonObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(given)) return [];
  // No more than a person would look at.
  return given.slice(0, 20).flatMap((one: unknown) => {
    const isPage = isJsonObject(one) && typeof one['url'] === 'string' && typeof one['message'] === 'string';
    return isPage ? [{ ...one, mode: 'url' } as unknown as ElicitRequestURLParams] : [];
  });
}

/** No server must say that a page is done with, so its time ends. */
async function untilDone(done: Promise<unknown>, timeoutMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  let stop: () => void = () => undefined;
  const tooLong = new Promise<void>((resolve) => {
    const timer = clock.schedule(resolve, timeoutMs, { keepAlive: true });
    stop = () => timer.cancel();
  });
  try {
    await abortable(Promise.race([done, tooLong]), signal);
  } finally {
    stop();
  }
}
