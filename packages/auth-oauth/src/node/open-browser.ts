/** Opens a person's browser, by the system's own opener and never through a shell. */

import { spawn } from 'node:child_process';
import { checkUrl } from '@mortise/protocol/edge';
import { SignInRequiredError, UnsafeUrlError } from '../errors.ts';

/** Each system's opener, as a program and its arguments before the URL. */
const OPENERS: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** So long an opener that found no browser is given to say so, in milliseconds. One that becomes the browser never ends by itself. */
const OPENER_MS = 3_000;

/**
 * Opens a URL in the person's browser. The URL is one argument of the opener; no shell reads it. Resolves once the opener has ended well, or runs on
 * for 3 seconds.
 *
 * @param options.opener The program and its arguments before the URL. @default the system's: `open`, `rundll32`, `xdg-open`
 * @throws {UnsafeUrlError} It is neither https nor http on this machine.
 * @throws {SignInRequiredError} There is no opener, or it failed: `xdg-open` does where there is no browser.
 * @see 2026-07-28 security_best_practices#oauth-authorization-url-validation
 */
export async function openBrowser(url: string | URL, options: { readonly opener?: readonly string[] } = {}): Promise<void> {
  const why = checkUrl(url, { allowLoopback: true, allowPrivate: true });
  if (why !== undefined) throw new UnsafeUrlError(`Not opened in a browser: ${why}`);
  const [program = 'xdg-open', ...args] = options.opener ?? OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, new URL(url).href], { shell: false, stdio: 'ignore', detached: true, windowsHide: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string, cause?: Error): void =>
        reject(new SignInRequiredError(`The browser could not be opened (${why}): give "open" to show the URL instead`, { cause }));
      child.once('error', (cause) => fail(cause.message, cause));
      child.once('exit', (code, signal) => (code === 0 ? resolve() : fail(`${program} ended with ${code ?? signal}`)));
      timer = setTimeout(resolve, OPENER_MS);
    });
  } finally {
    clearTimeout(timer);
    child.unref();
  }
}
