/** What the site adds to Markdown: pictures, names above files, images for light and dark, and tables that scroll. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { root } from '../../scripts/run-command.mjs';

export function renderMarkdown(md) {
  const { fence, image, text } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const [language, ...words] = tokens[index].info.trim().split(/\s+/);
    if (language === 'mermaid')
      return drawPicture(tokens[index].content, md.utils.escapeHtml(words.join(' ')), `${env.relativePath}-${index}`);
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

/** SVG whose colours come from the site's style sheet. `name`: the words after `mermaid` as HTML, which screen readers say. `place`: for ids and errors. */
function drawPicture(source, name, place) {
  if (name === '') throw new Error(`docs/${place}: a mermaid fence has no title; write it after "mermaid"`);
  let svg;
  try {
    svg = renderMermaidSVG(source.trim(), { padding: 8, transparent: true });
  } catch (error) {
    throw new Error(`docs/${place}: the picture "${name}" cannot be drawn`, { cause: error });
  }
  const [, width] = / width="([\d.]+)"/.exec(svg);
  const inPage = svg
    .replace(/<style>[^]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, ` role="img" aria-label="${name}"`)
    .replaceAll(/ data-[\w-]+="[^"]*"/g, '')
    // Ids must be unique on a page.
    .replaceAll(/( id="|url\(#)/g, `$1${place.replaceAll(/\W/g, '-')}-`)
    .replace(/ width="[^"]*" height="[^"]*"/, ` style="width:${Math.ceil(width)}px;max-width:max(100%,${Math.ceil(width * 0.75)}px)"`)
    .replaceAll(/\n\s*/g, '');
  return `<figure class="picture" tabindex="0" v-pre>${inPage}</figure>\n`;
}
