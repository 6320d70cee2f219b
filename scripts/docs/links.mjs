/** Finds links of the built site that lead nowhere: to a page, to a heading, or to a file of the repository. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from '../run-command.mjs';

const ofTheRepository = /^https:\/\/github\.com\/mortise\/mortise\/(?:blob|tree|edit)\/main\//;

/**
 * @param {string} folder The built site.
 * @returns {readonly string[]} A text for each link.
 */
export function findBrokenLinks(folder) {
  const files = new Set(listFiles(folder));
  const pages = new Map(sitePages(folder).map((file) => [file, readPage(join(folder, file))]));
  const base = process.env.MORTISE_DOCS_BASE ?? '/';
  const found = [...pages].flatMap(([file, { links }]) =>
    [...links].filter((link) => isBroken(link, file)).map((link) => ({ link, file })),
  );
  // A broken link of the navigation is on every page: report it once.
  const links = [...new Set(found.map(({ link }) => link))];
  return links.map((link) => {
    const [{ file }, ...others] = found.filter((fault) => fault.link === link);
    return `${file}: the link ${link} leads nowhere${others.length === 0 ? '' : `, as on ${others.length} other pages`}`;
  });

  function isBroken(link, file) {
    if (ofTheRepository.test(link)) return !existsSync(join(root, decodeURI(link.replace(ofTheRepository, '').replace(/#.*/, ''))));
    if (/^[a-z]+:/.test(link)) return false;
    const [path, anchor] = link.split('#');
    const target = path === '' ? file : toFile(path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(file), path));
    if (!files.has(target)) return true;
    const page = pages.get(target);
    return anchor !== undefined && anchor !== '' && page !== undefined && !page.ids.has(decodeURIComponent(anchor));
  }

  function toFile(path) {
    const decoded = decodeURI(path);
    return ['.html', 'index.html', '/index.html', ''].map((end) => decoded + end).find((name) => files.has(name)) ?? decoded;
  }
}

/** The pages of a built site, such as `how-to/host.html`. */
function sitePages(folder) {
  return listFiles(folder)
    .filter((file) => file.endsWith('.html'))
    .sort();
}

/** What the pages are called in addresses, such as `how-to/host`. */
export function sitePaths(folder) {
  return sitePages(folder)
    .filter((file) => file !== '404.html')
    .map((file) => file.replace(/(?:(^|\/)index)?\.html$/, '$1'));
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
}

function readPage(path) {
  const html = readFileSync(path, 'utf8');
  const all = (pattern) => [...html.matchAll(pattern)].map(([, value]) => value.replaceAll('&amp;', '&').replaceAll('&quot;', '"'));
  return { links: new Set(all(/<(?:a|link|img)\s[^>]*?\b(?:href|src)="([^"]*)"/g)), ids: new Set(all(/\sid="([^"]*)"/g)) };
}
