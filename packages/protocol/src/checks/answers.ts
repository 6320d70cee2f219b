/** Checks of a client's answers to a server's questions. The server checks what it receives, the client what its program returns. */

import {
  anyObject,
  array,
  byMethod,
  type Check,
  type Members,
  type MethodCheck,
  object,
  oneOf,
  oneOrMany,
  record,
  string,
} from './check.ts';
import { role, samplingBlock, strings, task } from './shapes.ts';

/** The value of a form field. */
const answer: Check = (value) => {
  if (typeof value === 'object') return strings(value);
  return typeof value === 'number' || typeof value === 'boolean' ? undefined : string(value);
};

const results: Members = {
  'elicitation/create': object({ action: oneOf(['accept', 'decline', 'cancel']), 'content?': record(answer), '_meta?': anyObject }),
  'sampling/createMessage': object({
    role,
    content: oneOrMany(samplingBlock),
    model: string,
    'stopReason?': string,
    '_meta?': anyObject,
  }),
  'roots/list': object({ roots: array(object({ uri: string, 'name?': string, '_meta?': anyObject })), '_meta?': anyObject }),
  'tasks/get': object(task),
  'tasks/cancel': object(task),
};

/** Checks a client's result of `elicitation/create`, `sampling/createMessage`, `roots/list` or a task request. */
export const checkClientResult: MethodCheck = byMethod('result', anyObject, results);
