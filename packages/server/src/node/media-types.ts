/** Media types of common files, by the end of their names. */

const BY_EXTENSION: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  c: 'text/x-c',
  cc: 'text/x-c++',
  cpp: 'text/x-c++',
  css: 'text/css',
  csv: 'text/csv',
  diff: 'text/x-diff',
  gif: 'image/gif',
  go: 'text/x-go',
  gz: 'application/gzip',
  h: 'text/x-c',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/vnd.microsoft.icon',
  java: 'text/x-java',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  jsx: 'text/javascript',
  log: 'text/plain',
  md: 'text/markdown',
  mdx: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  rb: 'text/x-ruby',
  rs: 'text/x-rust',
  sh: 'application/x-sh',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  toml: 'application/toml',
  ts: 'text/x-typescript',
  tsv: 'text/tab-separated-values',
  tsx: 'text/x-typescript',
  txt: 'text/plain',
  wasm: 'application/wasm',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** The media type of a directory. @see 2026-07-28 server/resources#file */
export const DIRECTORY_TYPE = 'inode/directory';

/** The media type by a file's name; undefined where the name tells none. */
export function mediaTypeOf(path: string, more: Readonly<Record<string, string>> = {}): string | undefined {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(more, extension)) return more[extension];
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
}
