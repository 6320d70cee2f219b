/**
 * What every door calls before anything else: POST, GET, DELETE, OPTIONS, the HTTP+SSE endpoints and the metadata, on both faces. It
 * keeps web pages that a user happens to visit away from servers on the user's machine and network (DNS rebinding).
 *
 * @see 2026-07-28 basic/transports/streamable-http#security--endpoint
 */

import { HEADER_MISMATCH } from '@mortise/protocol/wire';
import { createHostGuard, type HostGuard } from '@mortise/protocol/edge';
import { HttpOptionError } from '../errors.ts';
import type { HttpRequest } from './http-request.ts';
import type { HttpHandlerOptions } from './options.ts';
import { HttpRefusal } from './refusal.ts';

const ANY = '*';

export class Guard {
  /** Any page may call: the program said so. */
  readonly allowsAnyOrigin: boolean;
  readonly #check: HostGuard;
  readonly #status: number;
  /** The host that was let in last, over what kind of socket: most requests without a page behind them say the same. */
  #lastHost: string | undefined;
  #lastIsLoopback = false;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an entry that is no host or origin. */
  constructor({ allowedHosts, allowedOrigins = [] }: Pick<HttpHandlerOptions, 'allowedHosts' | 'allowedOrigins'>, badOriginStatus: number) {
    for (const [name, given] of Object.entries({ allowedHosts, allowedOrigins })) assertList(name, given);
    this.allowsAnyOrigin = allowedOrigins.includes(ANY);
    this.#status = badOriginStatus;
    try {
      this.#check = createHostGuard({
        allowedOrigins: allowedOrigins.filter((origin) => origin !== ANY),
        ...(allowedHosts === undefined ? {} : { allowedHosts }),
      });
    } catch (error) {
      throw new HttpOptionError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /**
   * Checks that a request names a host that is this server, and comes from no page that has no business here.
   *
   * @returns The origin of the page that calls, where a page does.
   * @throws {HttpRefusal} 400 for headers that say two things, 403 for a foreign host or origin.
   */
  check(request: HttpRequest): string | undefined {
    const duplicate = request.findDuplicateHeader();
    if (duplicate !== undefined) throw duplicateRefusal(duplicate);
    const host = request.authority;
    if (host === undefined)
      throw new HttpRefusal(400, 'The request must name one host: send one "Host" header that agrees with the request target');
    const origin = request.header('origin');
    // A platform that does not tell is taken for loopback, where the strict rules hold.
    const isLoopbackSocket = request.isLoopback !== false;
    if (origin === undefined && host === this.#lastHost && isLoopbackSocket === this.#lastIsLoopback) return undefined;
    const reason = this.#check({ host, origin: this.allowsAnyOrigin ? undefined : origin, isLoopbackSocket });
    if (reason !== undefined) throw new HttpRefusal(this.#status, reason);
    if (origin === undefined) {
      this.#lastHost = host;
      this.#lastIsLoopback = isLoopbackSocket;
    }
    return origin;
  }
}

function duplicateRefusal(name: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${name}" may come once only`, name.startsWith('mcp-') ? { rpcCode: HEADER_MISMATCH } : {});
}

/** A text has members of the same names as an array, and would let in what its letters happen to hold. */
function assertList(name: string, given: unknown): void {
  if (given === undefined || Array.isArray(given)) return;
  const shown =
    typeof given === 'string' ? `${JSON.stringify(given.slice(0, 100))}: write [${JSON.stringify(given.slice(0, 100))}]` : typeof given;
  throw new HttpOptionError(`The option "${name}" must be an array of texts, got ${shown}`);
}
