/** The transport kit: the test cases for all guarantees of a `Transport`, in the order of their ids. */

import { closingCases } from './closing.ts';
import { contentCases } from './content.ts';
import { handlesCases } from './handles.ts';
import { malformedCases } from './malformed.ts';
import { orderingCases } from './ordering.ts';
import { sendingCases } from './sending.ts';
import { startingCases } from './starting.ts';
import type { TransportCase } from './transport-case.ts';

/** The test cases T1.1 to T14.2 for the guarantees T1 to T14 of a `Transport`. */
export const transportCases: readonly TransportCase[] = [
  ...startingCases,
  ...orderingCases,
  ...sendingCases,
  ...closingCases,
  ...malformedCases,
  ...contentCases,
  ...handlesCases,
].sort((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)));
