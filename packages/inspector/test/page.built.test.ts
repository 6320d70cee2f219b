import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerTarget } from '../src/messages.ts';
import { callTool, executablePath, expectAccessible, launch, openPage, shoot, TIMEOUT_MS } from './chromium.ts';
import { HOSTILE } from './programs/everything.ts';
import { serveEverything } from './targets.ts';

const ways = (['stdio', 'http', 'websocket'] as const).flatMap((transport) =>
  (['legacy', 'modern'] as const).map((era) => ({ transport, era })),
);

describe.skipIf(executablePath === undefined)('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(() => browser.close());

  /** Fills in the form to connect. */
  async function connect(page: Page, target: ServerTarget): Promise<void> {
    await page.getByLabel('Transport').selectOption(target.type);
    if (target.type === 'stdio') {
      await page.getByLabel('Command').fill([target.command, ...(target.args ?? [])].map((word) => `"${word}"`).join(' '));
      await page.getByLabel('Folder').fill(target.cwd ?? '');
    } else await page.getByLabel('URL').fill(target.url);
    if (target.era !== undefined) await page.getByLabel('Protocol').selectOption(target.era);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('region', { name: 'Tools', exact: true }).getByRole('button', { name: /^add / }).waitFor();
  }

  it.each(ways)(
    'connects, fills in a form, calls, answers, cancels and shows the wire over $transport in the $era era',
    async ({ transport, era }) => {
      const { page, complaints } = await openPage(browser);
      await connect(page, { ...(await serveEverything(transport)), era });
      await page.getByLabel('a (required)').fill('1');
      await page.getByLabel('b (required)').fill('2');
      await callTool(page, 'add');
      await page.getByRole('article').getByText('{"sum":3}').waitFor();

      await callTool(page, 'ask');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Accept' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('name (required)').fill('Ada');
      await dialog.getByLabel('color (required)').selectOption('green');
      await dialog.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('article').getByText('"name":"Ada"').waitFor();

      await callTool(page, 'sample');
      await dialog.getByLabel('Answer of the model').fill('hello there');
      await dialog.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('article').getByText('hello there').first().waitFor();

      await callTool(page, 'wait');
      await page.getByText('a quarter').waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByText('cancelled after').waitFor();

      await callTool(page, 'work', 'Call as a task');
      await dialog.getByLabel('sure (required)').selectOption('true');
      await dialog.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('tab', { name: 'Tasks' }).click();
      await page.getByText('finished: accept').first().waitFor();
      await page.getByRole('tab', { name: 'Tools' }).click();
      await callTool(page, 'work', 'Call as a task');
      await dialog.getByRole('button', { name: 'Later' }).click();
      await page.getByRole('tab', { name: 'Tasks' }).click();
      await page.getByRole('button', { name: 'Cancel task' }).click();
      await page.getByText('cancelled', { exact: true }).waitFor();

      await page.getByRole('tab', { name: 'Wire' }).click();
      await page.getByLabel('Filter').fill('tools/call add');
      const rows = page.getByRole('listbox').getByRole('option');
      await expect.poll(() => rows.count()).toBe(2);
      await rows.first().click();
      await page.getByRole('button', { name: 'Copy as a test' }).click();
      const copied = page.getByLabel('Copied text');
      expect(await copied.textContent()).toContain('"sum": 3');
      if (transport === 'http') {
        await page.getByRole('button', { name: 'Copy as curl' }).click();
        await expect.poll(() => copied.textContent()).toContain('curl -X POST');
      }
      await page.getByRole('button', { name: 'Its response' }).click();
      await page.getByRole('heading', { name: /response tools\/call/ }).waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'builds nested arguments: objects, arrays, unions, enumerations and formats, beside the same as JSON',
    async () => {
      const { page } = await openPage(browser);
      await connect(page, await serveEverything('http'));
      await page.getByRole('button', { name: /^order / }).click();
      await page.getByLabel('name (required)').fill('Ada');
      await page.getByLabel('email').fill('ada@example.com');
      await page.getByLabel('article (required)').fill('pen');
      await page.getByRole('button', { name: 'Add to lines' }).click();
      await page.getByRole('button', { name: 'Remove lines 2' }).click();
      await page.getByLabel('Kind of payment').selectOption({ label: 'kind: invoice' });
      await page.getByLabel('days (required)').fill('14');
      await page.getByLabel('size (required)').selectOption('medium');
      await page.getByLabel('on', { exact: true }).fill('2026-01-31');
      const json = page.getByLabel('Arguments as JSON');
      const written = JSON.parse(await json.inputValue()) as object;
      expect(written).toEqual({
        customer: { name: 'Ada', email: 'ada@example.com' },
        lines: [{ article: 'pen', count: 1 }],
        payment: { kind: 'invoice', days: 14 },
        express: false,
        size: 'medium',
        on: '2026-01-31',
      });
      await json.fill(JSON.stringify({ ...written, note: 'from the text' }));
      expect(await page.getByLabel('note').inputValue()).toBe('from the text');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByRole('article').getByText('from the text').first().waitFor();
      await page.getByRole('button', { name: 'Run again' }).click();
      await expect.poll(() => page.getByRole('navigation', { name: 'Runs' }).getByRole('button').count()).toBe(2);
    },
    TIMEOUT_MS,
  );

  it(
    'shows resources, prompts with suggestions, and several servers side by side',
    async () => {
      const { page } = await openPage(browser, { servers: [{ ...(await serveEverything('websocket')), name: 'second' }] });
      await page.getByRole('button', { name: 'Connect a server' }).click();
      await connect(page, await serveEverything('http'));
      await page.getByRole('tab', { name: 'Resources' }).click();
      await page.getByRole('button', { name: /^pixel/ }).click();
      await page.getByRole('button', { name: 'Read', exact: true }).click();
      const image = page.getByRole('img', { name: /^Image of the result/ });
      await expect.poll(() => image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
      await page.getByRole('button', { name: /^user/ }).click();
      await page.getByLabel('name').pressSequentially('a');
      await expect.poll(() => page.locator('datalist option').count()).toBe(2);
      await page.getByRole('tab', { name: 'Prompts' }).click();
      await page.getByLabel('name (required)').fill('Ada');
      await page.getByRole('button', { name: 'Get' }).click();
      await page.getByText('Say hello to Ada').first().waitFor();
      const servers = page.getByRole('navigation', { name: 'Servers' });
      await expect.poll(() => servers.getByText('ready').count()).toBe(2);
      await page.reload();
      await expect.poll(() => servers.getByText('ready').count()).toBe(2);
    },
    TIMEOUT_MS,
  );

  it(
    '[ROBUSTNESS-14] lets names, results and logs of a hostile server do nothing',
    async () => {
      const { page, complaints } = await openPage(browser);
      await connect(page, await serveEverything('http'));
      await page.getByRole('tab', { name: 'Logs' }).click();
      await page.getByLabel('The server sends from').selectOption('debug');
      await page.getByRole('tab', { name: 'Tools' }).click();
      await callTool(page, 'log');
      await page.getByText('done after').waitFor();
      await callTool(page, '<img');
      await page.getByRole('article', { name: 'Result of hostile' }).getByText('done after').waitFor();
      await page.getByRole('tab', { name: 'Logs' }).click();
      await page.getByRole('listbox').getByRole('option').filter({ hasText: '<img' }).click();
      const shown = await page.innerText('body');
      expect(shown).toContain('<script>window.pwned=1</script>\\u001b[31mred\\u202egnp');
      expect(shown).not.toContain(HOSTILE.slice(-5));
      expect(await page.evaluate('[document.images.length, document.scripts.length, window.pwned ?? null]')).toEqual([0, 1, null]);
      expect(complaints).toEqual([]);
      // What would get past the escaping is stopped by the policy.
      await expect(page.evaluate("document.body.innerHTML = '<img src=x onerror=alert(1)>'")).rejects.toThrow('TrustedHTML');
    },
    TIMEOUT_MS,
  );

  it(
    'shows the beginning of a long message, and all of it when the user wants it',
    async () => {
      const { page } = await openPage(browser, { servers: [await serveEverything('http')] });
      await page.getByRole('button', { name: /^blob / }).click();
      await page.getByLabel('size (required)').fill('90000');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByText('done after').waitFor();
      await page.getByRole('tab', { name: 'Wire' }).click();
      await page.getByLabel('Filter').fill('tools/call');
      await page.getByRole('listbox').getByRole('option').last().click();
      const message = page.getByRole('region', { name: 'Message' });
      await message.getByText('Only the beginning is shown.').waitFor();
      expect((await message.locator('pre').textContent())?.length).toBe(65_536);
      await message.getByRole('button', { name: 'Load all' }).click();
      await message.getByRole('button', { name: 'show all 90000 characters' }).click();
      expect((await message.locator('.value.string').allTextContents()).map(({ length }) => length)).toContain(90_002);
      expect(await message.getByText('Only the beginning is shown.').count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'stops once at a list, in which arrow keys, Home and End move, and next at the form of what Enter chooses',
    async () => {
      const { page } = await openPage(browser, { servers: [await serveEverything('http')] });
      const name = (): Promise<string> => page.locator(':focus').evaluate((element) => element.querySelector('strong')?.innerText ?? '');
      const press = async (...keys: readonly string[]): Promise<void> => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await page.getByRole('button', { name: /^add / }).waitFor();
      await page.getByLabel('Filter tools').focus();
      await press('Tab');
      expect(await name()).toBe('add');
      await press('ArrowUp', 'ArrowDown');
      expect(await name()).toBe('order');
      await press('End', 'ArrowDown');
      expect(await name()).toBe('touch');
      const filter = await page.getByLabel('Filter tools').boundingBox();
      while ((await name()) !== 'order') {
        await press('ArrowUp');
        const focused = await page.locator(':focus').boundingBox();
        expect(focused?.y).toBeGreaterThanOrEqual((filter?.y ?? NaN) + (filter?.height ?? NaN));
      }
      await press('Home');
      expect(await name()).toBe('add');
      await press('ArrowDown');
      await page.getByRole('region', { name: 'Tool add' }).waitFor();
      await press('Enter');
      await page.getByRole('region', { name: 'Tool order' }).waitFor();
      await press('Tab');
      expect(await page.locator('form :focus').count()).toBe(1);
      await press('Shift+Tab');
      expect(await name()).toBe('order');
      await page.getByLabel('Filter tools').fill('log');
      await press('Tab');
      expect(await name()).toBe('log');
      await page.getByRole('tab', { name: 'Resources' }).click();
      await page.getByRole('button', { name: 'Reload resources' }).focus();
      await press('Tab');
      expect(await name()).toBe('readme');
      await press('Tab', 'Tab');
      expect(await name()).toBe('user');
      await page.getByRole('tab', { name: 'Resources' }).focus();
      await press('End');
      await page.getByRole('tabpanel', { name: 'Server' }).waitFor();
      await press('ArrowRight');
      await page.getByRole('tabpanel', { name: 'Tools' }).waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'keeps what is chosen and filled in while another view is shown, and calls by Enter in a text',
    async () => {
      const { page } = await openPage(browser, { servers: [await serveEverything('http')] });
      await page.getByRole('button', { name: /^order / }).click();
      const order = page.getByRole('region', { name: 'Tool order' });
      await order.getByLabel('name').first().fill('Ada');
      await page.getByRole('tab', { name: 'Wire' }).click();
      await page.getByRole('listbox').getByRole('option').last().click();
      await page.getByRole('tab', { name: 'Tools' }).click();
      expect(await order.getByLabel('name').first().inputValue()).toBe('Ada');
      await page.getByRole('tab', { name: 'Wire' }).click();
      await page.getByRole('region', { name: 'Message' }).waitFor();
      await page.getByRole('tab', { name: 'Tools' }).click();
      await order.getByLabel('name').first().focus();
      await page.keyboard.press('Shift+Enter');
      expect(await order.getByLabel('name').first().inputValue()).toBe('Ada\n');
      expect(await order.getByRole('article').count()).toBe(0);
      await page.keyboard.press('Enter');
      await order.getByRole('article', { name: 'Result of order' }).waitFor();
    },
    TIMEOUT_MS,
  );

  const screens = [
    { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
    { name: 'medium', colorScheme: 'dark', viewport: { width: 900, height: 800 } },
    { name: 'narrow', colorScheme: 'light', viewport: { width: 375, height: 740 } },
  ] as const;
  it.each(screens)(
    'has no serious fault of accessibility ($name), and is used by keyboard alone',
    async ({ name: screen, ...context }) => {
      const { page } = await openPage(browser, { servers: [await serveEverything('http')] }, context);
      const look = async (view: string): Promise<void> => {
        await shoot(page, `${screen}-${view}`);
        await expectAccessible(page);
      };
      /** A button by the beginning of its name. */
      const press = async (name: string): Promise<void> => {
        await page
          .getByRole('button', { name: new RegExp(`^${name}`) })
          .first()
          .focus();
        await page.keyboard.press('Enter');
      };
      const type = async (label: string, text: string): Promise<void> => {
        await page.getByLabel(label).focus();
        await page.keyboard.type(text);
      };
      await press('Connect a server');
      await page.getByRole('region', { name: 'Connect' }).waitFor();
      await look('connect');
      await type('Command', 'there-is-no-such-program');
      await press('Connect$');
      await page.getByText('could not be started').first().waitFor();
      await page.getByText('The server is not connected.').waitFor();
      expect(await page.locator(':focus').textContent()).toBe('Tools');
      await look('failed');
      await press('Remove');
      await press('everything');
      await page.getByRole('tab', { name: 'Logs' }).click();
      await page.getByText('choose the level').waitFor();
      await page.getByLabel('The server sends from').selectOption('debug');
      await page.getByRole('tab', { name: 'Tools' }).click();
      await page.getByRole('tab', { name: 'Logs' }).click();
      expect(await page.getByLabel('The server sends from').inputValue()).toBe('debug');
      await page.getByRole('tab', { name: 'Tools' }).click();
      await press('order');
      await look('order');
      for (const name of ['table', 'media', 'fail', 'log', 'ask']) {
        await press(name);
        await press('Call');
        const isOver = name === 'ask' ? 'Who are you?' : /(?:done|failed) after/;
        await page.getByText(isOver).first().waitFor();
        await look(name);
      }
      await page.keyboard.press('Escape');
      await page.getByText('waits for your answer').waitFor();
      expect(await page.locator(':focus').textContent()).toBe('Call');
      await press('work');
      await press('Call as a task');
      await page.getByText('Go on?').waitFor();
      await look('work');
      await page.keyboard.press('Escape');
      await page.getByRole('tab', { name: 'Tools' }).focus();
      for (const name of ['Resources', 'Prompts', 'Tasks', 'Logs', 'Wire', 'Server']) {
        await page.keyboard.press('ArrowRight');
        await page.getByRole('tabpanel', { name: new RegExp(`^${name}`) }).waitFor();
        if (name === 'Resources') {
          await press('data');
          await press('Read$');
          await page.getByText('done after').waitFor();
        }
        if (name === 'Prompts') {
          await type('name (required)', 'Ada');
          await press('Get');
          await page.getByText('Say hello to Ada').first().waitFor();
        }
        if (name === 'Wire') {
          await page.getByRole('listbox').focus();
          await page.keyboard.press('Home');
          await page.keyboard.press('ArrowDown');
          await page.getByRole('heading', { name: /^2\. / }).waitFor();
          // Between wide and narrow, the message stands below the list.
          const size = page.viewportSize();
          await page.setViewportSize({ width: 900, height: 800 });
          expect((await page.locator('.virtual .method').first().boundingBox())?.width).toBeGreaterThan(100);
          if (size) await page.setViewportSize(size);
        }
        await look(name.toLowerCase());
        await page.getByRole('tab', { name }).focus();
      }
    },
    TIMEOUT_MS,
  );
});
