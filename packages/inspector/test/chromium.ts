/** A person with the page open: headless Chromium. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serveInspector, type ServeInspectorOptions } from '@mortise/inspector';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** Where Chromium is; undefined where there is none, and then what needs it is skipped. */
export const executablePath: string | undefined =
  process.env['MORTISE_CHROMIUM'] ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Only what stops a browser that hangs. */
export const TIMEOUT_MS = 240_000;

export function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--js-flags=--expose-gc'];
  return chromium.launch({ executablePath: executablePath ?? '', timeout: TIMEOUT_MS, args });
}

export interface OpenedPage {
  readonly page: Page;
  /** What the page wrote to its console, and errors that nothing caught. */
  readonly complaints: readonly string[];
}

/** Opens the page of a new inspector, until the test ends. */
export async function openPage(
  browser: Browser,
  options: ServeInspectorOptions = {},
  context: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const inspector = await serveInspector(options);
  onTestFinished(() => inspector.close());
  const opened = await browser.newContext(context);
  onTestFinished(() => opened.close());
  const page = await opened.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  await page.goto(inspector.url);
  await page.getByText('linked', { exact: true }).waitFor();
  return { page, complaints };
}

/** Presses the button to call the tool that is shown, and waits for what its run shows. */
export async function callTool(page: Page, name: string, button = 'Call'): Promise<void> {
  await page
    .getByRole('region', { name: 'Tools', exact: true })
    .getByRole('button', { name: new RegExp(`^${name} `) })
    .click();
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** Where screenshots go, for a person to look at. */
const screenshots = new URL('../../../.cache/screenshots/inspector/', import.meta.url);

export async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, screenshots)) });
}

/** Expects that axe finds nothing that it calls serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as {
    readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[];
  };
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}
