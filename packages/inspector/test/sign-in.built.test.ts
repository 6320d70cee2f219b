import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { executablePath, expectAccessible, launch, openPage, shoot, TIMEOUT_MS } from './chromium.ts';
import { serveProtected } from './protected.ts';

/** Goes through the pages of the authorization server until it sends the browser back. */
async function signIn(page: Page): Promise<void> {
  const origin = new URL(page.url()).origin;
  while (new URL(page.url()).origin === origin) {
    const login = page.locator('input[name=login]');
    if ((await login.count()) > 0) {
      await login.fill('ada');
      await page.locator('input[name=password]').fill('any');
    }
    const before = page.url();
    await page.locator('button[type=submit]').click();
    await page.waitForURL((next) => next.href !== before);
  }
}

describe.skipIf(executablePath === undefined)('sign-in', () => {
  it.each(['legacy', 'modern'] as const)(
    'goes through discovery, registration, sign-in and token in the %s era, and shows each step without a secret',
    async (era) => {
      const browser = await launch();
      try {
        const { page, complaints } = await openPage(
          browser,
          { servers: [{ type: 'http', url: await serveProtected(), era }] },
          era === 'legacy'
            ? { colorScheme: 'light', viewport: { width: 1440, height: 900 } }
            : { colorScheme: 'dark', viewport: { width: 375, height: 740 } },
        );
        const link = page.getByRole('link', { name: 'Open the sign-in page' });
        await link.waitFor();
        await expectAccessible(page);
        await shoot(page, `sign-in-${era}`);
        const [popup] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
        await popup.waitForLoadState();
        expect(await popup.evaluate('window.opener')).toBeNull();
        await signIn(popup);
        await page.getByRole('region', { name: 'Tools', exact: true }).getByRole('button', { name: /^add / }).waitFor();
        await page.getByRole('tab', { name: 'Server' }).click();
        const steps = page.getByRole('region', { name: 'Sign-in' });
        const titles = await steps.locator('li > strong').allTextContents();
        await steps.locator('li').last().scrollIntoViewIfNeeded();
        await shoot(page, `signed-in-${era}`);
        expect(titles).toEqual([
          'Metadata of the protected server',
          'Metadata of the authorization server',
          'Registration of this client',
          'Sign-in page, for you to open',
          'The code is exchanged for a token',
        ]);
        expect(await steps.innerText()).not.toMatch(/access_token|eyJ|client_secret/);
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    TIMEOUT_MS,
  );
});
