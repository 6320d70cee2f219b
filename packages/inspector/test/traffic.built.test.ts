import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { executablePath, launch, openPage, TIMEOUT_MS } from './chromium.ts';
import { serveEverything } from './targets.ts';

const CALLS = 100;
const MIB = 1024 * 1024;
const MAX_PAGE_BYTES = 300 * MIB;
const MAX_CLICK_MS = 100;

/** The memory of the largest renderer, in bytes: what the system counts, where it can be read. */
function readMemory(processes: readonly { readonly type: string; readonly id: number }[]): number {
  const sizes = processes
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]) * 1024);
  return Math.max(...sizes);
}

describe.skipIf(executablePath === undefined || process.platform !== 'linux')('100 MiB of traffic', () => {
  it(
    'leaves the page below 300 MiB, and a click answered within 100 ms',
    async () => {
      const browser = await launch();
      try {
        const { page } = await openPage(browser, { servers: [await serveEverything('http')] });
        await page.getByRole('button', { name: /^blob / }).click();
        await page.getByLabel('size (required)').fill(String(MIB));
        const button = page.getByRole('button', { name: 'Call', exact: true });
        const runs = page.getByRole('article');
        for (let call = 0; call < CALLS; call++) {
          await button.click();
          await runs.getByText('done after').waitFor();
        }
        await page.getByRole('tab', { name: 'Wire' }).click();
        await page.getByText(/were dropped to make room/).waitFor();
        const session = await browser.newBrowserCDPSession();
        const { processInfo } = await session.send('SystemInfo.getProcessInfo');
        const bytes = readMemory(processInfo);
        const clicks = await clickRows(page);
        console.log(
          `the page: ${Math.round(bytes / MIB)} MiB; clicks: ${clicks.map(({ ms, cpuMs }) => `${ms} (CPU ${cpuMs})`).join(', ')} ms`,
        );
        expect(bytes).toBeLessThan(MAX_PAGE_BYTES);
        // The rows are short requests and responses of 1 MiB in turn.
        for (const kind of [0, 1]) expect(median(clicks.filter((_, at) => at % 2 === kind))).toBeLessThan(MAX_CLICK_MS);
      } finally {
        await browser.close();
      }
    },
    TIMEOUT_MS,
  );
});

interface Click {
  readonly ms: number;
  /** What of it the page's main thread ran: the rest it waited for, as for other programs of a busy machine. */
  readonly cpuMs: number;
}

const median = (clicks: readonly Click[]): number => clicks.map(({ cpuMs }) => cpuMs).sort((a, b) => a - b)[clicks.length >> 1] ?? NaN;

/** Clicks on the last ten rows, and measures how long each takes until its message is drawn. */
async function clickRows(page: Page): Promise<readonly Click[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const readCpuMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? NaN) * 1000;
  };
  const clicks: Click[] = [];
  for (let row = -10; row < 0; row++) {
    const startMs = await readCpuMs();
    const ms = (await page.evaluate(`(${clickRow})(${row})`)) as number;
    clicks.push({ ms: Math.round(ms), cpuMs: Math.round((await readCpuMs()) - startMs) });
  }
  return clicks;
}

/** Runs in the page. */
const clickRow = `async (at) => {
  const row = [...document.querySelectorAll('[role=listbox] [role=option]')].at(at);
  const start = performance.now();
  row.click();
  while (!document.querySelector('[aria-label=Message] :is(pre, .branch)') || row.getAttribute('aria-selected') !== 'true')
    await new Promise(requestAnimationFrame);
  return performance.now() - start;
}`;
