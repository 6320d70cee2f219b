import { readFileSync } from 'node:fs';
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
        const clicks = (await page.evaluate(clickRows)) as readonly number[];
        console.log(`the page: ${Math.round(bytes / MIB)} MiB; clicks: ${clicks.map((ms) => ms.toFixed(0)).join(', ')} ms`);
        expect(bytes).toBeLessThan(MAX_PAGE_BYTES);
        // How soon a click is answered without the time that others ran: the quickest of five, for short requests and for responses of 1 MiB.
        expect(Math.min(...clicks.filter((_, at) => at % 2 === 0))).toBeLessThan(MAX_CLICK_MS);
        expect(Math.min(...clicks.filter((_, at) => at % 2 === 1))).toBeLessThan(MAX_CLICK_MS);
      } finally {
        await browser.close();
      }
    },
    TIMEOUT_MS,
  );
});

/** Clicks on ten rows, and measures how long each takes until its message is drawn. Runs in the page. */
const clickRows = `(async () => {
  const box = document.querySelector('[role=listbox]');
  const rows = [...box.querySelectorAll('[role=option]')].slice(-10);
  const times = [];
  for (const row of rows) {
    const start = performance.now();
    row.click();
    while (!document.querySelector('[aria-label=Message] :is(pre, .branch)') || row.getAttribute('aria-selected') !== 'true')
      await new Promise(requestAnimationFrame);
    times.push(performance.now() - start);
  }
  return times;
})()`;
