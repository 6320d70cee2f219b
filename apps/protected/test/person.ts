/** A person with a browser: headless Chromium, which signs in and consents at whatever page it is shown. */

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Chromium is; undefined where there is none, and then what needs it is skipped. */
export const executablePath: string | undefined =
  process.env['MORTISE_CHROMIUM'] ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Only what stops a browser that hangs: it starts processes of its own, and a busy machine takes its time for each. */
export const TIMEOUT_MS = 240_000;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? '', timeout: TIMEOUT_MS, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

interface PersonOptions {
  readonly name: string;
  /** Whose pages these are, beside those of the first URL. */
  readonly origins?: readonly string[];
}

const visits = new WeakMap<Page, Promise<unknown>>();

/**
 * Goes through pages until another's is reached, one visit after the other: a sign-in goes on as soon as it has its answer, while the
 * page of the visit before may still be loading.
 *
 * @returns What the pages said.
 */
export function passPages(page: Page, url: URL, options: PersonOptions): Promise<readonly string[]> {
  const before = visits.get(page) ?? Promise.resolve();
  const visit = before.then(() => pass(page, url, options));
  visits.set(page, visit);
  return visit;
}

async function pass(page: Page, url: URL, { name, origins = [] }: PersonOptions): Promise<readonly string[]> {
  const texts: string[] = [];
  page.setDefaultTimeout(TIMEOUT_MS);
  const isTheirs = (): boolean => [url.origin, ...origins].includes(new URL(page.url()).origin);
  await page.goto(url.href);
  while (isTheirs()) {
    texts.push(await page.innerText('body'));
    const login = page.locator('input[name=login]');
    if ((await login.count()) > 0) {
      await login.fill(name);
      await page.locator('input[name=password]').fill('any');
    }
    const before = page.url();
    await page.locator('button[type=submit], button[value=allow]').click();
    await page.waitForURL((next) => next.href !== before);
  }
  return texts;
}
