/** What the site adds to Markdown: pictures, names above files, images for light and dark, tables that scroll, and links to the repository's files. */

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { root } from '../../scripts/run-command.mjs';

/** Pages that GitHub shows and the site does not. */
const notOfTheSite = ['docs/spec-coverage.md'];

export function renderMarkdown(md) {
  md.core.ruler.push('links-to-the-repository', linkToRepository);
  const { fence, image, text } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const [language, ...words] = tokens[index].info.trim().split(/\s+/);
    if (language === 'mermaid') return drawPicture(tokens, index, env);
    const html = fence(tokens, index, options, env, self);
    const name = words.find((word) => /^[\w./-]*\.[a-z]+$/.test(word)) ?? (words.includes('output') ? 'Output' : undefined);
    return name === undefined ? html : `<div class="named-block"><div class="name">${md.utils.escapeHtml(name)}</div>${html}</div>\n`;
  };
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const source = tokens[index].attrGet('src') ?? '';
    const html = image(tokens, index, ...rest);
    const dark = source.replace(/\.png$/, '-dark.png');
    if (dark === source || !existsSync(join(root, 'docs/public', dark))) return html;
    // `in-light` and `in-dark` are the style sheet's.
    return html.replace('<img ', '<img class="in-light" ') + html.replace('<img ', '<img class="in-dark" ').replace(source, dark);
  };
  // Braces in a text are no expression of Vue.
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');
  md.renderer.rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0">\n<table>\n';
  md.renderer.rules.table_close = () => '</table>\n</div>\n';
}

/** A relative link that leads out of the site becomes one to GitHub. */
function linkToRepository({ tokens, env }) {
  const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
  for (const link of links) {
    const address = link.attrGet('href');
    if (address === null || /^(?:[a-z]+:|#|\/)/.test(address)) continue;
    const [path, anchor] = address.split('#');
    const file = posix.join('docs', posix.dirname(env.relativePath), decodeURI(path));
    if (file.startsWith('docs/') && !notOfTheSite.includes(file)) continue;
    if (!existsSync(join(root, file))) throw new Error(`docs/${env.relativePath}: the link ${address} leads nowhere`);
    link.attrSet('href', `https://github.com/mortise/mortise/blob/main/${file}${anchor === undefined ? '' : `#${anchor}`}`);
  }
}

/** SVG whose colours come from the site's style sheet, named by its first comment (`%% ...`), or by the heading above it. */
function drawPicture(tokens, index, env) {
  const heading = tokens.slice(0, index).findLastIndex(({ type }) => type === 'heading_open');
  const comment = /^\s*%% (.+)$/m.exec(tokens[index].content)?.[1];
  const name = (comment ?? tokens[heading + 1]?.content ?? 'Picture').replaceAll(/[`*_]/g, '');
  let svg;
  try {
    svg = renderMermaidSVG(tokens[index].content.trim(), { padding: 8, transparent: true });
  } catch (error) {
    throw new Error(`docs/${env.relativePath}: a mermaid fence below "${name}" cannot be drawn`, { cause: error });
  }
  const [, width] = / width="([\d.]+)"/.exec(svg);
  const inPage = svg
    .replace(/<style>[^]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, ` role="img" aria-label="${escapeAttribute(name)}"`)
    .replaceAll(/ data-[\w-]+="[^"]*"/g, '')
    // Several pictures share a page, but ids are the page's.
    .replaceAll(/( id="|url\(#)/g, `$1picture-${index}-`)
    .replace(/ width="[^"]*" height="[^"]*"/, ` style="width:${Math.ceil(width)}px"`)
    .replaceAll(/\n\s*/g, '');
  return `<figure class="picture" tabindex="0" v-pre>${inPage}</figure>\n`;
}

function escapeAttribute(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
