/** Completion for a user who types: calm towards the server, and never late for the user. */

import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Completion, CompletionArgument, PromptReference, ResourceTemplateReference } from '@mortise/protocol/model';
import { MissingCapabilityError } from '../errors.ts';
import type { McpClient } from '../mcp-client.ts';

/** Completes the arguments of one prompt or resource template. */
export interface Completer {
  /**
   * Gives suggestions for what has been typed.
   *
   * @param resolved The other arguments, as far as they are known.
   * @returns undefined where a later call has overtaken this one.
   * @throws As `client.complete` does, but a server that completes nothing just has no suggestions.
   */
  complete(argument: CompletionArgument, resolved?: Readonly<Record<string, string>>): Promise<Completion | undefined>;
  /** Drops what is under way and forgets everything. */
  close(): void;
}

/** How long the user must have paused before the server is asked. */
const PAUSE_MS = 150;
/** How many answers are kept; the oldest goes first. */
const MAX_CACHED = 100;

const NOTHING: Completion = /* @__PURE__ */ Object.freeze({ values: [] });

/**
 * Makes a completer. It waits for a pause, cancels what was overtaken, and keeps answers until the server's list changes.
 *
 * @see 2026-07-28 server/utilities/completion#implementation-considerations
 */
export function createCompleter(client: McpClient, ref: PromptReference | ResourceTemplateReference): Completer {
  const cache = new Map<string, Completion>();
  const forget = (): void => cache.clear();
  const off = ref.type === 'ref/prompt' ? client.onPromptsChanged(forget) : client.onResourcesChanged(forget);
  let overtake: () => void = () => undefined;

  const ask = async (
    key: string,
    argument: CompletionArgument,
    resolved: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
  ): Promise<Completion> => {
    const context = resolved && Object.keys(resolved).length > 0 ? { context: { arguments: resolved } } : {};
    const { completion } = await client.complete({ ref, argument, ...context }, { signal });
    cache.set(key, completion);
    for (const oldest of cache.keys()) {
      if (cache.size <= MAX_CACHED) break;
      cache.delete(oldest);
    }
    return completion;
  };

  const complete: Completer['complete'] = (argument, resolved) => {
    overtake();
    const key = JSON.stringify([argument.name, argument.value, resolved]);
    const known = cache.get(key);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const controller = new AbortController();
      const timer = systemClock.schedule(() => {
        ask(key, argument, resolved, controller.signal).then(resolve, (error: unknown) => {
          if (controller.signal.aborted) resolve(undefined);
          else if (error instanceof MissingCapabilityError) resolve(NOTHING);
          else reject(error as Error);
        });
      }, PAUSE_MS);
      overtake = () => {
        timer.cancel();
        controller.abort(new Error('overtaken'));
        resolve(undefined);
      };
    });
  };

  const close = (): void => {
    overtake();
    off();
    forget();
  };
  return { complete, close };
}
