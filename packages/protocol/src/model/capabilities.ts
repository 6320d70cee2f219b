/** What a client and a server say that they can do. A member that is there, even as `{}`, means yes. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** Settings by extension identifier, `vendor.example/name`; `{}` means supported without settings. Since 2026-07-28. */
type ExtensionSettings = Readonly<Record<string, JsonObject>>;

/**
 * What a client can do: declared once in `initialize`, or on each modern request.
 *
 * @see 2026-07-28 schema#clientcapabilities
 */
export interface ClientCapabilities extends JsonObject {
  readonly experimental?: Readonly<Record<string, JsonObject>> | undefined;
  /** @deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration. */
  readonly roots?: RootsCapability | undefined;
  /** @deprecated since 2026-07-28: call a model provider's API from the server. */
  readonly sampling?: SamplingCapability | undefined;
  /** Since 2025-06-18. `{}` means forms only. */
  readonly elicitation?: ElicitationCapability | undefined;
  /** @until 2025-11-25; then the extension `io.modelcontextprotocol/tasks`. */
  readonly tasks?: ClientTasksCapability | undefined;
  readonly extensions?: ExtensionSettings | undefined;
}

/** What a client does with roots. */
interface RootsCapability extends JsonObject {
  /** @until 2025-11-25 */
  readonly listChanged?: boolean | undefined;
}

/** Its members since 2025-11-25. */
interface SamplingCapability extends JsonObject {
  readonly context?: JsonObject | undefined;
  readonly tools?: JsonObject | undefined;
}

/** Its members since 2025-11-25. */
interface ElicitationCapability extends JsonObject {
  readonly form?: JsonObject | undefined;
  readonly url?: JsonObject | undefined;
}

/** What a client does with tasks. @until 2025-11-25 */
interface ClientTasksCapability extends JsonObject {
  readonly list?: JsonObject | undefined;
  readonly cancel?: JsonObject | undefined;
  readonly requests?: ClientTaskRequests | undefined;
}

/** Which requests to the client may become tasks. @until 2025-11-25 */
interface ClientTaskRequests extends JsonObject {
  readonly sampling?: SamplingTaskRequests | undefined;
  readonly elicitation?: ElicitationTaskRequests | undefined;
}

/** The requests of sampling that may. @until 2025-11-25 */
interface SamplingTaskRequests extends JsonObject {
  readonly createMessage?: JsonObject | undefined;
}

/** The requests of elicitation that may. @until 2025-11-25 */
interface ElicitationTaskRequests extends JsonObject {
  readonly create?: JsonObject | undefined;
}

/**
 * What a server can do: declared in the result of `initialize` or of `server/discover`.
 *
 * @see 2026-07-28 schema#servercapabilities
 */
export interface ServerCapabilities extends JsonObject {
  readonly experimental?: Readonly<Record<string, JsonObject>> | undefined;
  /** @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. */
  readonly logging?: JsonObject | undefined;
  /** Since 2025-03-26. */
  readonly completions?: JsonObject | undefined;
  readonly prompts?: ListCapability | undefined;
  readonly resources?: ResourcesCapability | undefined;
  readonly tools?: ListCapability | undefined;
  /** @until 2025-11-25; then the extension `io.modelcontextprotocol/tasks`. */
  readonly tasks?: ServerTasksCapability | undefined;
  readonly extensions?: ExtensionSettings | undefined;
}

/** A feature with a list: `listChanged` says whether the server sends notifications when it changes. */
interface ListCapability extends JsonObject {
  readonly listChanged?: boolean | undefined;
}

/** What a server does with resources: `subscribe` says whether clients can subscribe to updates of one. */
interface ResourcesCapability extends ListCapability {
  readonly subscribe?: boolean | undefined;
}

/** What a server does with tasks. @until 2025-11-25 */
interface ServerTasksCapability extends JsonObject {
  readonly list?: JsonObject | undefined;
  readonly cancel?: JsonObject | undefined;
  readonly requests?: ServerTaskRequests | undefined;
}

/** Which requests to the server may become tasks. @until 2025-11-25 */
interface ServerTaskRequests extends JsonObject {
  readonly tools?: ToolTaskRequests | undefined;
}

/** The requests of tools that may. @until 2025-11-25 */
interface ToolTaskRequests extends JsonObject {
  readonly call?: JsonObject | undefined;
}
