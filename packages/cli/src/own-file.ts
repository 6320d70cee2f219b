/** `ownFile`: a file of this package, from the sources as well as from what is built, each of which lies one folder below its root. */

import { fileURLToPath } from 'node:url';

export const ownFile = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
