/** `npm run build`: installs what is missing and builds what has changed. */

import { setUp } from './set-up.mjs';

await setUp();
