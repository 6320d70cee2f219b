/**
 * The site of these documents. `npm run docs` serves it, `npm run docs:build` builds it, `npm run docs:test` tests what was built.
 * Another version of the site lies below another path: MORTISE_DOCS_BASE names it, and docs/versions.json lists the versions to switch between.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run-command.mjs';
import { renderMarkdown } from './markdown.mjs';
import { writePlainPages } from './plain-pages.mjs';
import { parts, sidebar } from './sidebar.mjs';

const base = process.env.MORTISE_DOCS_BASE ?? '/';
const versions = JSON.parse(readFileSync(join(root, 'docs/versions.json'), 'utf8'));
const current = versions.find(({ link }) => link === base) ?? versions[0];
const repository = 'https://github.com/mortise/mortise';

export default {
  title: 'Mortise',
  description: 'The Model Context Protocol for TypeScript, as small packages.',
  lang: 'en',
  base,
  cleanUrls: true,
  // scripts/docs/links.mjs checks all links, those to headings and files of the repository too.
  ignoreDeadLinks: true,
  srcExclude: ['spec-coverage.md', 'node_modules/**'],
  head: [['link', { rel: 'icon', href: `${base}favicon.svg`, type: 'image/svg+xml' }]],
  // A page loads its own script and nothing else.
  router: { prefetchLinks: false },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: renderMarkdown,
  },
  vite: { resolve: { alias: [{ find: /^.*\/VPHome\.vue$/, replacement: join(import.meta.dirname, 'theme/home.vue') }] } },
  themeConfig: {
    logo: { src: '/favicon.svg', alt: '' },
    nav: [
      ...parts(),
      {
        text: current.name,
        items: [
          ...versions.map(({ name, link }) => ({ text: name, link, target: '_self' })),
          { text: 'Releases', link: `${repository}/releases` },
        ],
      },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3], label: 'On this page' },
    search: {
      provider: 'local',
      // A page whose title has the words comes before one whose text has them often.
      options: {
        _render: renderForSearch,
        miniSearch: { searchOptions: { combineWith: 'AND', boost: { title: 10, titles: 4, text: 1 } } },
      },
    },
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'Mortise on GitHub' }],
    externalLinkIcon: true,
    footer: { message: `<a href="${repository}/blob/main/LICENSE">Apache-2.0</a>` },
  },
  transformPageData: (page) => {
    // Written in the build, from doc comments: there is no page to edit.
    if (page.relativePath.startsWith('reference/api/')) page.frontmatter.editLink = false;
  },
  buildEnd: writePlainPages,
};

/** The index holds the whole text of a page, but of the generated reference only the headings: the names of what is exported. */
function renderForSearch(source, env, md) {
  if (!env.relativePath.startsWith('reference/api/')) return md.render(source, env);
  const headings = source.replaceAll(/^```[^]*?^```/gm, '').match(/^#+ .*$/gm) ?? [];
  const html = md.render(headings.join('\n\n'), env);
  return (html.match(/<h[1-3][^]*?<\/h[1-3]>/g) ?? []).join('\n');
}
