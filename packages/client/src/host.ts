/** `@mortise/client/host`: what hosts show people: forms, pages to open, icons, names, hints, completions; and sampling with approval. */

export { type Approval, type ApprovalOptions, withApproval } from './host/approval.ts';
export { type Completer, type CompleterOptions, createCompleter } from './host/completer.ts';
export {
  type ChoiceField,
  describeForm,
  type FormDescription,
  type FormField,
  type FormFieldBase,
  type FormIssue,
  type FormOption,
  type MultiChoiceField,
  type NumberField,
  type SwitchField,
  type TextField,
} from './host/forms.ts';
export { checkIconUrl, type FetchedIcon, fetchIcon, type FetchIconOptions, type IconSource } from './host/icons.ts';
export { type ImageFacts, type ImageType, readImageFacts } from './host/image-facts.ts';
export { type ModelFacts, selectModel } from './host/models.ts';
export { checkPage, describePage, type PageAddress, type PageWarning } from './host/pages.ts';
export { type ToolHints, toolHints } from './host/tool-hints.ts';
export { displayName, type NamedTools, type ToolPlace, uniqueToolNames } from './host/tool-names.ts';
