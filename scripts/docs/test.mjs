/**
 * `npm run docs:test`: builds the site, serves it on loopback and opens every page in headless Chromium. One line a fault, then the totals.
 * `--built` takes the site as it was built last. `MORTISE_CHROMIUM` names a Chromium that is not in PATH.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../find-chromium.mjs';
import { root } from '../run-command.mjs';
import { reportTotals } from '../run-tests.mjs';
import { sitePaths } from './links.mjs';
import { buildSite, siteFolder } from './site.mjs';
import { importVitePress } from './tool.mjs';

const timeoutMs = 120_000;
const mostScriptBytes = 200 * 1024;
const base = process.env.MORTISE_DOCS_BASE ?? '/';
/** Pages open at once: the machines that run this have two cores. */
const workers = 3;
const phone = { width: 375, height: 812 };
const desk = { width: 1280, height: 800 };

let passed = 0;
const failures = [];

const faults = process.argv.includes('--built') ? [] : await buildSite();
check('every link leads somewhere, and the sidebar lists every page', faults);
const axe = readFileSync(join(root, 'docs/node_modules/axe-core/axe.min.js'), 'utf8');
const site = await serveSite();
// Containers run as root and have no user namespaces; the pages are ours.
const browser = await chromium.launch({
  executablePath: await findChromium(),
  timeout: timeoutMs,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
try {
  const paths = sitePaths(siteFolder);
  const waiting = [...paths];
  await Promise.all(Array.from({ length: workers }, () => openPages(waiting)));
  for (const path of oneOfEachKind(paths)) await testAccess(path);
  await testKeyboard();
  await testSearch();
} finally {
  await browser.close();
  site.close();
}
reportTotals({ passed, failures });

/** Counts a test, which failed where there are faults. */
function check(title, found) {
  if (found.length === 0) passed += 1;
  for (const fault of found) {
    failures.push(`${title}: ${fault}`);
    console.log(`FAILED ${title}: ${fault}`);
  }
}

/** Opens pages until none waits: no errors, no other hosts, little script, and nothing wider than a phone. */
async function openPages(waiting) {
  const context = await browser.newContext({ viewport: phone });
  const page = await context.newPage();
  const watch = watchPage(page);
  // What comes from the cache weighs nothing, so a script keeps the weight of its first time.
  const weights = new Map();
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    watch.reset();
    await page.goto(site.url + path, { waitUntil: 'networkidle', timeout: timeoutMs });
    const found = [...watch.faults];
    const scripts = watch.scripts.filter((request) => !weights.has(request.url()));
    for (const request of scripts) weights.set(request.url(), (await request.sizes()).responseBodySize);
    const scriptBytes = watch.scripts.reduce((sum, request) => sum + weights.get(request.url()), 0);
    if (scriptBytes < 10_000 || scriptBytes > mostScriptBytes)
      found.push(`${scriptBytes} bytes of script: expected 10000 to ${mostScriptBytes}`);
    found.push(...(await page.evaluate(findWide)));
    check(`/${path}`, found);
  }
  await context.close();
}

/** What a page asks for and says, from the last `reset` on. */
function watchPage(page) {
  const watch = {
    faults: [],
    scripts: [],
    reset() {
      watch.faults = [];
      watch.scripts = [];
    },
  };
  page.on('pageerror', (error) => watch.faults.push(`throws ${error.message}`));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && watch.faults.push(`logs ${message.text()}`));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // Requests of the page before are aborted, such as that for its icon.
    if (reason !== 'net::ERR_ABORTED') watch.faults.push(`${request.url()} failed: ${reason}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url) && !request.url().startsWith('data:'))
      watch.faults.push(`asks another host for ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) watch.faults.push(`${response.url()} answers ${response.status()}`);
    if (/javascript/.test(response.headers()['content-type'] ?? '')) watch.scripts.push(response.request());
  });
  return watch;
}

/** Runs in the page. Elements that scroll by themselves may be as wide as they like. */
function findWide() {
  const { documentElement } = globalThis.document;
  const { scrollWidth, clientWidth } = documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...globalThis.document.querySelectorAll('.vp-doc *')].find(
    (element) => element.getBoundingClientRect().right > clientWidth + 1,
  );
  return [`is ${scrollWidth} pixels wide on a phone of ${clientWidth}: ${wide?.outerHTML.slice(0, 120) ?? ''}`];
}

/** The home page, and of each folder the page in the middle; of the reference one of each part. */
function oneOfEachKind(paths) {
  const folders = [
    /^$/,
    /^learn\/./,
    /^how-to\/./,
    /^understand\/./,
    /^reference\/$/,
    /^reference\/api\/[^/]+$/,
    /^reference\/errors\/./,
    /^why$/,
    /^decisions\/./,
  ];
  return folders
    .map((folder) => paths.filter((path) => folder.test(path)))
    .flatMap((found) => found.slice(Math.floor(found.length / 2)).slice(0, 1));
}

/** The rules of axe, in light and dark. */
async function testAccess(path) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: desk, colorScheme, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(site.url + path, { waitUntil: 'networkidle', timeout: timeoutMs });
    await page.evaluate(axe);
    const { violations } = await page.evaluate('axe.run()');
    check(
      `/${path} keeps axe's rules in ${colorScheme}`,
      violations.map(({ id, nodes }) => `${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 160)} ${nodes[0].any[0]?.message ?? ''}`),
    );
    await context.close();
  }
}

/** The first stop of Tab leads past the navigation, and the next ones are in the order of the page. */
async function testKeyboard() {
  const page = await browser.newPage({ viewport: desk });
  await page.goto(`${site.url}how-to/write-a-tool`, { waitUntil: 'networkidle', timeout: timeoutMs });
  const stops = [];
  for (let count = 0; count < 3; count += 1) {
    await page.keyboard.press('Tab');
    stops.push(await page.evaluate(() => globalThis.document.activeElement?.textContent?.trim().slice(0, 20) ?? ''));
  }
  const inOrder = ['Skip to content', 'Mortise', 'Search'].every((start, index) => stops[index].startsWith(start));
  check('Tab stops in the order of the page', inOrder ? [] : [`it stops at ${stops.join(', ')}`]);
  for (let count = 0; count < 2; count += 1) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const target = await page.evaluate(() => globalThis.document.activeElement?.id);
  check('the keyboard reaches the content by the skip link', target === 'VPContent' ? [] : [`it leads to ${target || 'nothing'}`]);
  await page.setViewportSize(phone);
  await page.reload({ waitUntil: 'networkidle' });
  const unseen = [];
  for (let count = 0; count < 15; count += 1) {
    await page.keyboard.press('Tab');
    unseen.push(...(await page.evaluate(findUnseen)));
  }
  check('on a phone, Tab stops only at what is on the screen', unseen);
  await page.close();
}

/** Runs in the page: what has the focus, if it is not on the screen. */
function findUnseen() {
  const { activeElement } = globalThis.document;
  const { left, right } = activeElement.getBoundingClientRect();
  return right > 0 && left < globalThis.innerWidth ? [] : [`it stops at ${activeElement.textContent.trim()}`];
}

/** Search opens, finds and follows by keys alone, with nothing but the site's own files. */
async function testSearch() {
  const page = await browser.newPage({ viewport: desk });
  const watch = watchPage(page);
  await page.goto(site.url, { waitUntil: 'networkidle', timeout: timeoutMs });
  await page.keyboard.press('/');
  await page.waitForSelector('#localsearch-input', { timeout: timeoutMs });
  await page.keyboard.type('write a tool');
  await page.waitForSelector('#localsearch-list li:first-child a[href*="write-a-tool"]', { timeout: timeoutMs });
  await page.keyboard.press('Enter');
  await page.waitForURL(/write-a-tool/, { timeout: timeoutMs }).catch(() => watch.faults.push(`Enter leads to ${page.url()}`));
  check('search finds a page by keys alone, offline', watch.faults);
  await page.close();
}

/** Serves what was built as `vitepress preview` does: compressed, `/x` is `x.html`. */
async function serveSite() {
  const { serve } = await importVitePress();
  const { server } = await serve({ root: join(root, 'docs'), base, port: 0 });
  if (!server.listening) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}${base}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
