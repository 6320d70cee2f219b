/** `readPage`: the page as one HTML text, and the policy that lets nothing but its own script and style run. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The page and its Content-Security-Policy. */
export interface PageFile {
  readonly html: string;
  readonly policy: string;
}

/** What the build puts beside the server's own files. From the sources as well as from what is built, `dist` lies beside or two above. */
const read = (name: string): string =>
  readFileSync(new URL(import.meta.url.endsWith('.ts') ? `../../dist/${name}` : name, import.meta.url), 'utf8');

const NOTICE =
  'Contains Preact, (c) 2015-present Jason Miller, and @preact/signals, (c) 2022-present Preact Team, both under the MIT licence.';

/** @throws {Error} The package was not built. */
export function readPage(): PageFile {
  // In a script element this would end it.
  const script = read('page.js').replaceAll('</script', '<\\/script');
  const style = read('page.css');
  const html = `<!doctype html>
<!-- ${NOTICE} -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Mortise Inspector</title>
<style>${style}</style>
</head>
<body><div id="page"></div><script>${script}</script></body>
</html>
`;
  return { html, policy: toPolicy(script, style) };
}

function toPolicy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    'media-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
