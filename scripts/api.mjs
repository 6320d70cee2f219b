/** `npm run api`: writes the reports of the public API, `api/<package>.md`, after installing and building. */

import { setUp } from './set-up.mjs';

await setUp();
const { writeReports } = await import('./api-report.mjs');
writeReports();
