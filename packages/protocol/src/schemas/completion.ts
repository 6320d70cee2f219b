/** Completion. */

import { z } from 'zod/v4';
import { type CompleteRequestParams, type CompleteResult, MAX_COMPLETION_VALUES } from '../model/completion.ts';
import { loose, optionalBoolean, optionalInt, optionalString, record } from './base.ts';
import { requestShape, resultShape } from './meta.ts';

/** The zod twin of `CompleteRequestParams`. */
export const CompleteRequestParamsSchema: z.ZodType<CompleteRequestParams> = loose({
  ...requestShape,
  ref: z.union([
    loose({ type: z.literal('ref/prompt'), name: z.string(), title: optionalString }),
    loose({ type: z.literal('ref/resource'), uri: z.string() }),
  ]),
  argument: loose({ name: z.string(), value: z.string() }),
  context: loose({ arguments: record(z.string()).optional() }).optional(),
});

/** The zod twin of `CompleteResult`. */
export const CompleteResultSchema: z.ZodType<CompleteResult> = loose({
  ...resultShape,
  completion: loose({ values: z.array(z.string()).max(MAX_COMPLETION_VALUES), total: optionalInt, hasMore: optionalBoolean }),
});
