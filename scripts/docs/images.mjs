/** `npm run docs:images`: the screenshots of the inspector, light and dark, in headless Chromium. `MORTISE_CHROMIUM` names one that is elsewhere. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from '../find-chromium.mjs';
import { root } from '../run-command.mjs';

const images = join(root, 'docs/public/images');
const { serveInspector } = await import(pathToFileURL(join(root, 'packages/inspector/dist/index.js')).href);

const server = (app) => ({ type: 'stdio', command: process.execPath, args: [join(root, 'apps', app, 'dist/server.js')], name: app });

/** Fills in and calls a tool. */
async function call(page, tool, values) {
  await page
    .getByRole('region', { name: 'Tools', exact: true })
    .getByRole('button', { name: new RegExp(`(^| )${tool} `) })
    .click();
  for (const [field, value] of Object.entries(values)) await page.getByLabel(`${field} (required)`).fill(value);
  await page.getByRole('button', { name: 'Call', exact: true }).click();
}

const pictures = [
  {
    name: 'inspector-tools',
    app: 'quickstart',
    async prepare(page) {
      await call(page, 'add', { a: '2', b: '3' });
      await page.getByRole('article').getByText('{"result":5}').waitFor();
    },
  },
  {
    name: 'inspector-wire',
    app: 'quickstart',
    async prepare(page) {
      await call(page, 'search_docs', { query: 'transport' });
      await page.getByRole('article').getByText('docs:///').first().waitFor();
      await call(page, 'add', { a: '2', b: '3' });
      await page.getByRole('article').getByText('{"result":5}').waitFor();
      await page.getByRole('tab', { name: 'Wire' }).click();
      const messages = page.getByRole('listbox');
      await messages.getByRole('option').last().click();
      // The list becomes shorter when it shows a message, and the chosen one is then below its edge.
      await page.getByRole('button', { name: 'Its request' }).waitFor();
      await messages.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    },
  },
  {
    name: 'inspector-ask',
    app: 'ask-the-user',
    async prepare(page) {
      await call(page, 'plan_trip', { city: 'Lisbon' });
      await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).waitFor();
    },
  },
];

mkdirSync(images, { recursive: true });
const browser = await chromium.launch({
  executablePath: await findChromium(),
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
  timeout: 240_000,
});
try {
  for (const { name, app, prepare } of pictures) {
    for (const colorScheme of ['light', 'dark']) {
      const inspector = await serveInspector({ servers: [server(app)] });
      const page = await browser.newPage({ colorScheme, viewport: { width: 1180, height: 700 } });
      page.setDefaultTimeout(240_000);
      await page.goto(inspector.url);
      await prepare(page);
      const path = join(images, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
      console.log(path);
      await page.close();
      await inspector.close();
    }
  }
} finally {
  await browser.close();
}
