/** `@mortise/client/host`: what hosts show people: icons, names, hints, completions. */

export { type Completer, completer, type CompleterOptions } from './completer.ts';
export { checkIconUrl, type FetchedIcon, fetchIcon, type FetchIconOptions, type IconSource } from './icons/fetch-icon.ts';
export { type ImageFacts, type ImageType, readImageFacts } from './icons/image-facts.ts';
export { displayName } from './display-name.ts';
export { type ToolHints, toolHints } from './tool-hints.ts';
export { type NamedTools, type ToolPlace, uniqueToolNames } from './unique-tool-names.ts';
export { IconError } from './errors.ts';
