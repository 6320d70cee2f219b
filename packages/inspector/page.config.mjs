/** How the page is bundled: all of `src/page` with Preact and our own packages as one classic script, which the server puts into the page. */

import { readFileSync } from 'node:fs';

/** The style sheet lies beside the script: the server puts both into one HTML text. */
const style = {
  name: 'style',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'page.css', source: readFileSync('src/page/style.css', 'utf8') });
  },
};

export default {
  input: { page: 'src/page/main.tsx' },
  platform: 'browser',
  plugins: [style],
  output: { dir: 'dist', format: 'iife', minify: true, comments: { legal: true } },
};
