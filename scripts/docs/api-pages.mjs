/** Which pages the generated reference has: one for each entry of each package. */

import { packageManifests } from '../workspace-packages.mjs';

/** Its reference is that of the official SDK, whose names it offers. */
const withoutPages = ['compat-v1'];

/** @returns {readonly { folder: string, name: string, path: string, source: string }[]} `path` below docs/reference/api, `source` below the root. */
export function apiPages() {
  return packageManifests()
    .filter(({ folder }) => !withoutPages.includes(folder))
    .flatMap(({ folder, name, exports }) =>
      Object.entries(exports ?? {})
        .filter(([subpath, target]) => target['mortise-source'] !== undefined && !subpath.includes('*'))
        .map(([subpath, target]) => ({
          folder,
          name: `${name}${subpath.slice(1)}`,
          path: subpath === '.' ? folder : `${folder}/${subpath.slice(2).replaceAll('/', '-')}`,
          source: `packages/${folder}/${target['mortise-source'].slice(2)}`,
        })),
    );
}
