/** `/validation/cfworker`: the validator for edge runtimes. Ours runs there. */

import { OwnJsonSchemaValidator } from './own-validator.ts';

export type CfWorkerSchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/** Does NOT use `draft` and `shortcircuit`: a schema's `$schema` names its draft, and all problems are reported. */
export class CfWorkerJsonSchemaValidator extends OwnJsonSchemaValidator {
  constructor(_options?: { shortcircuit?: boolean; draft?: CfWorkerSchemaDraft }) {
    super();
  }
}
