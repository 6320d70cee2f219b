/**
 * The site of these documents. `npm run docs` serves it, `npm run docs:build` builds it, `npm run docs:test` tests what was built.
 * Another version of the site lies below another path: MORTISE_DOCS_BASE names it, and versions.json lists the versions to switch between.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run-command.mjs';
import { renderMarkdown } from './markdown.mjs';
import { writePlainPages } from './plain-pages.mjs';
import { sidebar } from './sidebar.mjs';

const base = process.env.MORTISE_DOCS_BASE ?? '/';
const versions = JSON.parse(readFileSync(join(root, 'docs/.vitepress/versions.json'), 'utf8'));
const current = versions.find((version) => version.base === base) ?? versions[0];
const repository = 'https://github.com/mortise/mortise';

export default {
  title: 'Mortise',
  description: 'The Model Context Protocol for TypeScript, as small packages.',
  lang: 'en',
  base,
  cleanUrls: true,
  ignoreDeadLinks: false,
  srcExclude: ['spec-coverage.md'],
  head: [['link', { rel: 'icon', href: `${base}logo.svg`, type: 'image/svg+xml' }]],
  // A page loads its own script and nothing else.
  router: { prefetchLinks: false },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: renderMarkdown,
  },
  themeConfig: {
    logo: { src: '/logo.svg', alt: '' },
    nav: [
      { text: 'Learn', link: '/learn/', activeMatch: '^/learn/' },
      { text: 'How to', link: '/how-to/', activeMatch: '^/how-to/' },
      { text: 'Understand', link: '/understand/', activeMatch: '^/understand/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'Why', link: '/why' },
      { text: 'Project', link: '/project', activeMatch: '^/(project|decisions|measurements|robustness|round-trips|apps)' },
      {
        text: current.version,
        items: [
          ...versions.map((version) => ({ text: version.version, link: version.base, target: '_self' })),
          { text: 'Releases', link: `${repository}/releases` },
        ],
      },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local', options: { _render: renderForSearch } },
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

/** The index holds the whole text of a page, but of the generated reference only the headings: names of what is exported. */
function renderForSearch(source, env, md) {
  const html = md.render(source, env);
  if (env.frontmatter?.search === false) return '';
  return env.relativePath.startsWith('reference/api/') ? (html.match(/<h[1-3][^]*?<\/h[1-3]>/g) ?? []).join('\n') : html;
}
