/** Completion for a user who types: asks the server after a pause, and gives no answer to what the user has changed meanwhile. */

import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Completion, CompletionArgument, PromptReference, ResourceTemplateReference } from '@mortise/protocol/model';
import { MissingCapabilityError } from '../errors.ts';
import type { McpClient } from '../mcp-client.ts';

/** Completes the arguments of one prompt or resource template. */
export interface Completer {
  /**
   * Gives suggestions for what the user has typed.
   *
   * @param resolved The other arguments, as far as they are known.
   * @returns undefined if there was a later call meanwhile.
   * @throws As `client.complete` does; but where the server has no completions, there are no suggestions.
   */
  complete(argument: CompletionArgument, resolved?: Readonly<Record<string, string>>): Promise<Completion | undefined>;
  /** Cancels the request in flight and forgets everything. */
  close(): void;
}

/** How long the user must have paused before the server is asked. */
const PAUSE_MS = 150;
/** How many answers are kept; the oldest goes first. */
const MAX_CACHED = 100;

/**
 * Makes a completer. It waits for a pause, cancels the request before when there is another, and keeps answers until the server's list changes.
 *
 * @see 2026-07-28 server/utilities/completion#implementation-considerations
 */
export function createCompleter(client: McpClient, ref: PromptReference | ResourceTemplateReference): Completer {
  const cache = new Map<string, Completion>();
  const forget = (): void => cache.clear();
  const off = ref.type === 'ref/prompt' ? client.onPromptsChanged(forget) : client.onResourcesChanged(forget);
  let last = new AbortController();

  const complete: Completer['complete'] = async (argument, resolved = {}) => {
    last.abort();
    const { signal } = (last = new AbortController());
    const key = JSON.stringify([argument, resolved]);
    const known = cache.get(key);
    if (known) return known;
    await pause(signal);
    if (signal.aborted) return undefined;
    const context = Object.keys(resolved).length > 0 ? { context: { arguments: resolved } } : {};
    try {
      const { completion } = await client.complete({ ref, argument, ...context }, { signal });
      const [oldest] = cache.keys();
      if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest);
      cache.set(key, completion);
      return completion;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof MissingCapabilityError) return { values: [] };
      throw error;
    }
  };

  const close = (): void => {
    last.abort();
    off();
    forget();
  };
  return { complete, close };
}

/** Ends early, but does not reject, when the signal aborts. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = systemClock.schedule(resolve, PAUSE_MS);
    const stop = (): void => {
      timer.cancel();
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
