/** The capabilities that clients and servers declare. A member that is present, even as `{}`, declares the capability. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** Settings by extension identifier (`vendor.example/name`). `{}` means supported, without settings. Since 2025-11-25. */
type ExtensionSettings = Readonly<Record<string, JsonObject>>;

/**
 * The capabilities of a client, declared in `initialize` (legacy era) or in the `_meta` of each request (modern era).
 *
 * @see 2026-07-28 schema#clientcapabilities
 */
export interface ClientCapabilities extends JsonObject {
  readonly experimental?: Readonly<Record<string, JsonObject>> | undefined;
  /** The client answers `roots/list`. @deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration. */
  readonly roots?: RootsCapability | undefined;
  /** The client answers `sampling/createMessage`. @deprecated since 2026-07-28: call a model provider's API from the server. */
  readonly sampling?: SamplingCapability | undefined;
  /** The client answers `elicitation/create`. Since 2025-06-18. `{}` means form mode only. */
  readonly elicitation?: ElicitationCapability | undefined;
  /** What the client supports of tasks. @until 2025-11-25; then the extension `io.modelcontextprotocol/tasks`. */
  readonly tasks?: ClientTasksCapability | undefined;
  readonly extensions?: ExtensionSettings | undefined;
}

/** The client answers `roots/list`. */
interface RootsCapability extends JsonObject {
  /** The client sends `notifications/roots/list_changed`. @until 2025-11-25 */
  readonly listChanged?: boolean | undefined;
}

/** The client answers `sampling/createMessage`. The members exist since 2025-11-25. */
interface SamplingCapability extends JsonObject {
  readonly context?: JsonObject | undefined;
  readonly tools?: JsonObject | undefined;
}

/** The client answers `elicitation/create`, in the declared modes. The members exist since 2025-11-25. */
interface ElicitationCapability extends JsonObject {
  readonly form?: JsonObject | undefined;
  readonly url?: JsonObject | undefined;
}

/** The task methods that a client supports, and the requests to the client that may run as tasks. @until 2025-11-25 */
interface ClientTasksCapability extends JsonObject {
  readonly list?: JsonObject | undefined;
  readonly cancel?: JsonObject | undefined;
  readonly requests?: ClientTaskRequests | undefined;
}

/** The requests to the client that may run as tasks. @until 2025-11-25 */
interface ClientTaskRequests extends JsonObject {
  readonly sampling?: SamplingTaskRequests | undefined;
  readonly elicitation?: ElicitationTaskRequests | undefined;
}

/** The sampling requests that may run as tasks. @until 2025-11-25 */
interface SamplingTaskRequests extends JsonObject {
  readonly createMessage?: JsonObject | undefined;
}

/** The elicitation requests that may run as tasks. @until 2025-11-25 */
interface ElicitationTaskRequests extends JsonObject {
  readonly create?: JsonObject | undefined;
}

/**
 * The capabilities of a server, declared in the result of `initialize` or `server/discover`.
 *
 * @see 2026-07-28 schema#servercapabilities
 */
export interface ServerCapabilities extends JsonObject {
  readonly experimental?: Readonly<Record<string, JsonObject>> | undefined;
  /** The server can send log messages. @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. */
  readonly logging?: JsonObject | undefined;
  /** The server completes arguments (`completion/complete`). Since 2025-03-26. */
  readonly completions?: JsonObject | undefined;
  readonly prompts?: ListCapability | undefined;
  readonly resources?: ResourcesCapability | undefined;
  readonly tools?: ListCapability | undefined;
  /** What the server supports of tasks. @until 2025-11-25; then the extension `io.modelcontextprotocol/tasks`. */
  readonly tasks?: ServerTasksCapability | undefined;
  readonly extensions?: ExtensionSettings | undefined;
}

/** A server feature with a list, such as tools. `listChanged`: the server sends a notification when the list changes. */
interface ListCapability extends JsonObject {
  readonly listChanged?: boolean | undefined;
}

/** The server has resources. `subscribe`: clients can subscribe to updates of a resource. */
interface ResourcesCapability extends ListCapability {
  readonly subscribe?: boolean | undefined;
}

/** The task methods that a server supports, and the requests to the server that may run as tasks. @until 2025-11-25 */
interface ServerTasksCapability extends JsonObject {
  readonly list?: JsonObject | undefined;
  readonly cancel?: JsonObject | undefined;
  readonly requests?: ServerTaskRequests | undefined;
}

/** The requests to the server that may run as tasks. @until 2025-11-25 */
interface ServerTaskRequests extends JsonObject {
  readonly tools?: ToolTaskRequests | undefined;
}

/** The tool requests that may run as tasks. @until 2025-11-25 */
interface ToolTaskRequests extends JsonObject {
  readonly call?: JsonObject | undefined;
}
