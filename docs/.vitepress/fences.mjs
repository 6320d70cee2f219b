/** What the site makes of fenced blocks: pictures of ```mermaid, and a title for a block that is a file (```ts server.ts). */

import { renderMermaidSVG } from 'beautiful-mermaid';

/** Draws pictures in the build, so that no page needs a script for them. Their colours are those of the page, light or dark. */
export function mermaidPictures(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, options, env, self);
    const svg = renderMermaidSVG(content, {
      bg: 'var(--vp-c-bg)',
      fg: 'var(--vp-c-text-1)',
      accent: 'var(--vp-c-brand-1)',
      transparent: true,
    });
    const name = /%% (.+)/.exec(content)?.[1] ?? 'Diagram';
    // Nothing comes from another host: the font is the page's.
    const own = svg.replace(/@import url\([^)]*\);/, '').replace(/font-family: 'Inter', /, 'font-family: ');
    const labelled = own.replace('<svg ', `<svg role="img" aria-label="${md.utils.escapeHtml(name)}" `);
    return `<div class="picture" tabindex="0" v-pre>${labelled}</div>\n`;
  };
}

/** Shows the name of a block's file above it. */
export function fileNames(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const html = fence(tokens, index, options, env, self);
    const name = tokens[index].info
      .split(' ')
      .slice(1)
      .find((word) => /^[\w./-]*\.[a-z]+$/.test(word));
    return name === undefined ? html : `<div class="file"><div class="file-name">${md.utils.escapeHtml(name)}</div>${html}</div>\n`;
  };
}
