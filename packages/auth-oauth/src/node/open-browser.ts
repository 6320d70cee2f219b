/** Opens a person's browser, by the system's own opener and never through a shell. */

import { spawn } from 'node:child_process';
import { checkUrl } from '@mortise/protocol/edge';
import { SignInRequiredError, UnsafeUrlError } from '../errors.ts';

/** Each system's opener, as a program and its arguments before the URL. */
const OPENERS: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens a URL in the person's browser. The URL is one argument of the opener; no shell reads it.
 *
 * @param options.opener The program and its arguments before the URL. @default the system's: `open`, `rundll32`, `xdg-open`
 * @throws {UnsafeUrlError} It is neither https nor http on this machine.
 * @throws {SignInRequiredError} There is no opener, or it failed at once.
 * @see 2026-07-28 security_best_practices#oauth-authorization-url-validation
 */
export async function openBrowser(url: string | URL, options: { readonly opener?: readonly string[] } = {}): Promise<void> {
  const why = checkUrl(url, { allowLoopback: true, allowPrivate: true });
  if (why !== undefined) throw new UnsafeUrlError(`Not opened in a browser: ${why}`);
  const [program = 'xdg-open', ...args] = options.opener ?? OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, new URL(url).href], { shell: false, stdio: 'ignore', detached: true, windowsHide: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new SignInRequiredError('The browser could not be opened: give "open" to show the URL instead', { cause })),
    );
  });
  child.unref();
}
