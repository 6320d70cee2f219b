/** The site: `npm run docs` serves it, `npm run docs:build` builds it. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import llmstxt from 'vitepress-plugin-llms';
import { fileNames, mermaidPictures } from './fences.mjs';
import { sidebar } from './sidebar.mjs';

const docs = join(import.meta.dirname, '..');
const root = join(docs, '..');
const repository = 'https://github.com/mortise/mortise';
/** The site of an older version is built with MORTISE_DOCS_BASE=/1.0/. */
const base = process.env.MORTISE_DOCS_BASE ?? '/';
const versions = JSON.parse(readFileSync(join(docs, 'versions.json'), 'utf8'));

/** What is read on GitHub only: a table of 1,300 rows. */
const notOfTheSite = ['spec-coverage.md', 'node_modules/**'];

export default {
  title: 'Mortise',
  description: 'The Model Context Protocol (MCP) for TypeScript, as small packages',
  base,
  cleanUrls: true,
  srcExclude: notOfTheSite,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }]],
  markdown: { config: extendMarkdown },
  vite: {
    plugins: [llmstxt({ excludeIndexPage: false, ignoreFiles: ['spec-coverage.md', 'decisions/**', 'reference/api/**'] })],
    build: { chunkSizeWarningLimit: 1000 },
  },
  themeConfig: {
    nav: [
      { text: 'Learn', link: '/learn/', activeMatch: '^/learn/' },
      { text: 'How to', link: '/how-to/write-a-tool', activeMatch: '^/how-to/' },
      { text: 'Understand', link: '/understand/packages', activeMatch: '^/understand/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'Why', link: '/why' },
      { text: versions[0].name, items: versions.map(({ name, link }) => ({ text: name, link })) },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
    footer: { message: 'Apache-2.0' },
  },
};

function extendMarkdown(md) {
  md.use(mermaidPictures).use(fileNames).use(linksToTheRepository);
}

/** Links to files that are not pages of the site lead to GitHub. */
function linksToTheRepository(md) {
  md.core.ruler.push('links-to-the-repository', ({ env, tokens }) => {
    const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
    for (const link of links) {
      const [path, hash = ''] = (link.attrGet('href') ?? '').split('#');
      if (path === '' || /^([a-z]+:|\/)/.test(path)) continue;
      const file = resolve(dirname(join(docs, env.relativePath)), path);
      const inDocs = relative(docs, file);
      if (!inDocs.startsWith('..') && !notOfTheSite.includes(inDocs)) continue;
      if (!existsSync(file)) throw new Error(`docs/${env.relativePath} links to ${path}, which is not there`);
      link.attrSet('href', `${repository}/blob/main/${relative(root, file)}${hash && `#${hash}`}`);
    }
  });
}
