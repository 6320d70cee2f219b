/** `@mortise/client/host`: what hosts show people: forms, pages to open, icons, names, hints, completions; and the choice of a model. */

export { type Completer, type CompleterOptions, createCompleter } from './completer.ts';
export { checkIconUrl, type FetchedIcon, fetchIcon, type FetchIconOptions, type IconSource } from './icons/fetch-icon.ts';
export { type ImageFacts, type ImageType, readImageFacts } from './icons/image-facts.ts';
export {
  type ChoiceField,
  describeForm,
  type FormDescription,
  type FormField,
  type FormFieldBase,
  type FormIssue,
  type FormOption,
  InvalidFormError,
  type MultiChoiceField,
  type NumberField,
  type SwitchField,
  type TextField,
} from './answers/describe-form.ts';
export { checkPage, describePage, type PageAddress, type PageWarning } from './answers/describe-page.ts';
export { type ModelFacts, selectModel } from './answers/select-model.ts';
export type { Approval, AskLimits, PageContext } from './answers.ts';
export { displayName } from './display-name.ts';
export { type ToolHints, toolHints } from './tool-hints.ts';
export { type NamedTools, type ToolPlace, uniqueToolNames } from './unique-tool-names.ts';
export { IconError } from './errors.ts';
