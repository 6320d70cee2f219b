/** `@mortise/client/host`: helpers for user interfaces: forms, pages to open, safe text, icons, names, hints, completions and approval of sampling. */

export { type Completer, createCompleter } from './host/completer.ts';
export {
  type ChoiceField,
  describeForm,
  describePage,
  type FormDescription,
  type FormField,
  type FormFieldBase,
  type FormIssue,
  type FormOption,
  type MultiChoiceField,
  type NumberField,
  type PageAddress,
  type PageWarning,
  type SwitchField,
  type TextField,
} from './host/elicitation.ts';
export { escapeUnseen } from './host/escape-unseen.ts';
export {
  checkIconUrl,
  type FetchedIcon,
  fetchIcon,
  type FetchIconOptions,
  type IconSource,
  type ImageFacts,
  type ImageType,
  readImageFacts,
} from './host/icons.ts';
export { type Approval, type Approver, type ModelFacts, selectModel, withApproval } from './host/sampling.ts';
export { displayName, type NamedTools, type ToolHints, toolHints, type ToolPlace, uniqueToolNames } from './host/tools.ts';
