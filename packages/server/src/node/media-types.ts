/** Media types of common files by extension. */

/** The media types, each followed by its file extensions. */
const TYPES = `
  application/gzip gz; application/json json; application/jsonl jsonl; application/pdf pdf; application/sql sql; application/toml toml;
  application/wasm wasm; application/x-sh sh; application/x-tar tar; application/xml xml; application/yaml yaml yml; application/zip zip;
  audio/mpeg mp3; audio/ogg ogg; audio/wav wav;
  image/avif avif; image/bmp bmp; image/gif gif; image/jpeg jpeg jpg; image/png png; image/svg+xml svg; image/vnd.microsoft.icon ico;
  image/webp webp;
  text/css css; text/csv csv; text/html htm html; text/javascript js jsx mjs; text/markdown md mdx; text/plain log txt;
  text/tab-separated-values tsv; text/x-c c h; text/x-c++ cc cpp; text/x-diff diff; text/x-go go; text/x-java java; text/x-python py;
  text/x-ruby rb; text/x-rust rs; text/x-typescript ts tsx;
  video/mp4 mp4; video/webm webm
`;

const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  TYPES.split(';').flatMap((line) => {
    const [type = '', ...extensions] = line.trim().split(' ');
    return extensions.map((extension) => [extension, type] as const);
  }),
);

/** Returns the media type for a file name, or undefined if the extension is unknown. */
export function mediaTypeOf(path: string): string | undefined {
  return BY_EXTENSION.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '');
}
