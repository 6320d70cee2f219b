/** HTTP in the invented revision: a resource that does not exist has a status of its own. */

import { revision as before } from '../../../src/revisions/2026-07-28/index.ts';
import type { HttpRules } from '../../../src/revisions/revision.ts';

/** No such resource. */
export const RESOURCE_GONE = -32023;

export const http: Partial<HttpRules> = { statusByCode: new Map([...before.http.statusByCode, [RESOURCE_GONE, 404]]) };
