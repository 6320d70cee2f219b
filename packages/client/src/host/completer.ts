/** Completion while a user types: waits for a pause before it asks the server, and drops outdated suggestions. */

import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Completion, CompletionArgument, PromptReference, ResourceTemplateReference } from '@mortise/protocol/model';
import { MissingCapabilityError } from '../errors.ts';
import type { McpClient } from '../mcp-client.ts';

/** Completes the arguments of one prompt or resource template. */
export interface Completer {
  /**
   * Returns suggestions for what the user has typed.
   *
   * @param resolved The other arguments that the user has already filled in.
   * @returns undefined if `complete` was called again in the meantime.
   * @throws As `client.complete` does. A server without completions gives no suggestions.
   */
  complete(argument: CompletionArgument, resolved?: Readonly<Record<string, string>>): Promise<Completion | undefined>;
  /** Ends the completer: cancels the request in flight and clears the cache. */
  close(): void;
}

/** How long the user must pause in typing before a request is sent, in milliseconds. */
const PAUSE_MS = 150;
/** How many results are cached; the oldest is removed first. */
const MAX_CACHED = 100;

/**
 * Makes a completer. It waits for a pause in typing, cancels an outdated request, and caches results until the server's list changes.
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

/** Waits until the user has paused in typing. Resolves early when the signal aborts, and never rejects. */
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
