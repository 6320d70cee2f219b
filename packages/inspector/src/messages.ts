/**
 * What the page and the command say to each other: JSON-RPC requests of the page (`InspectorRequests`), and one notification of the
 * command, `events`, with a list of `InspectorEvent`.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Era, Implementation, LoggingLevel, Root, ServerCapabilities } from '@mortise/protocol';
import type { Prompt, Resource, ResourceTemplate, TaskStatus, Tool } from '@mortise/protocol/model';

/** What every target may have, whatever its transport. */
interface TargetChoices {
  /** The name to show. @default the URL or the command */
  readonly name?: string | undefined;
  /** The only era to speak. @default the server's, detected when connecting */
  readonly era?: Era | undefined;
  /** The only revision to speak. @default the newest that both sides know */
  readonly protocolVersion?: string | undefined;
}

/** A server that is started as a program. */
export interface ProgramTarget extends TargetChoices {
  /** A program on standard input and output. */
  readonly type: 'stdio';
  /** The program: a path, or a name in `PATH`. */
  readonly command: string;
  /** The program's arguments. @default none */
  readonly args?: readonly string[] | undefined;
  /** Variables beside those that every server inherits. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The working directory. @default that of this process */
  readonly cwd?: string | undefined;
}

/** A server at a URL: Streamable HTTP, the older HTTP with SSE, or WebSocket. */
export interface UrlTarget extends TargetChoices {
  /** The transport. */
  readonly type: 'http' | 'sse' | 'websocket';
  /** The URL of the server. */
  readonly url: string;
  /** Headers of every request. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A server that the inspector can connect to. */
export type ServerTarget = ProgramTarget | UrlTarget;

/** How the connection to a server stands. */
export interface ServerState {
  readonly id: string;
  readonly name: string;
  readonly target: ServerTarget;
  readonly status: 'connecting' | 'ready' | 'failed' | 'closed';
  /** Why it failed, with status `failed`. */
  readonly reason?: string | undefined;
  /** The sign-in page to open, while a sign-in waits for the user. */
  readonly signInUrl?: string | undefined;
  readonly info?: Implementation | undefined;
  readonly era?: Era | undefined;
  readonly protocolVersion?: string | undefined;
  readonly capabilities?: ServerCapabilities | undefined;
  readonly instructions?: string | undefined;
  readonly roots: readonly Root[];
}

/** One message on the wire, without its text. `kind` ended: the client gave up an HTTP exchange; error: a fault of the transport. */
export interface WireMessage {
  /** Counts the messages of one server from 1. */
  readonly seq: number;
  readonly timeMs: number;
  readonly direction: 'in' | 'out';
  readonly kind: 'request' | 'response' | 'notification' | 'ended' | 'error';
  /** For a response the method of its request. */
  readonly method: string;
  /** The tool, prompt or URI of a request. */
  readonly subject: string;
  readonly rpcId: string | undefined;
  readonly bytes: number;
  /** The beginning of the text. */
  readonly preview: string;
  /** For a response: the message that it answers, and how long that took. */
  readonly answers?: number | undefined;
  readonly tookMs?: number | undefined;
  readonly isError: boolean;
}

/** How many messages were dropped, the oldest first, so that the rest fits. */
export interface WireLoss {
  readonly messages: number;
  readonly bytes: number;
}

/** A log message of a server, or a line of its error output. */
export interface LogEntry {
  readonly seq: number;
  readonly timeMs: number;
  readonly level: LoggingLevel | 'stderr' | 'client';
  readonly logger: string | undefined;
  readonly text: string;
}

/** A request of the server that waits for the user. */
export interface Ask {
  readonly id: string;
  readonly kind: 'form' | 'url' | 'sampling';
  readonly params: JsonObject;
}

/** A task of a server, as last heard. */
export interface TaskEntry {
  readonly id: string;
  readonly tool: string;
  readonly status: TaskStatus;
  readonly message: string | undefined;
  readonly createdAt: string | undefined;
  readonly lastUpdatedAt: string | undefined;
  readonly result?: JsonObject | undefined;
  readonly error?: string | undefined;
}

/** One step of a sign-in: an HTTP request, or the page that the user has to open. Contains no token. */
export interface SignInStep {
  readonly seq: number;
  readonly timeMs: number;
  readonly title: string;
  readonly method: string;
  readonly url: string;
  /** undefined while it waits, or for what failed without a response. */
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** The document of a discovery step. */
  readonly document?: JsonValue | undefined;
}

/** All that the command keeps of one server. */
export interface ServerSnapshot {
  readonly state: ServerState;
  readonly wire: readonly WireMessage[];
  readonly loss: WireLoss;
  readonly logs: readonly LogEntry[];
  readonly asks: readonly Ask[];
  readonly tasks: readonly TaskEntry[];
  readonly steps: readonly SignInStep[];
}

/** What a server can list. */
export interface Lists {
  readonly tools: Tool;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
  readonly prompts: Prompt;
}

export type ListName = keyof Lists;

/** What the command tells the page, about the server with the id `server`. */
export type InspectorEvent = { readonly server: string } & (
  | { readonly type: 'state'; readonly state: ServerState }
  | { readonly type: 'gone' }
  | { readonly type: 'wire'; readonly message: WireMessage }
  | { readonly type: 'loss'; readonly loss: WireLoss }
  | { readonly type: 'log'; readonly entry: LogEntry }
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'ask over'; readonly ask: string }
  | { readonly type: 'task'; readonly task: TaskEntry }
  | { readonly type: 'step'; readonly step: SignInStep }
  | { readonly type: 'list changed'; readonly list: 'tools' | 'resources' | 'prompts' }
  | { readonly type: 'resource updated'; readonly uri: string }
);

/** What the page asks of the command, by method: the params and the result; an empty one for `void`. */
export interface InspectorRequests {
  /** All that there is, for a page that was just opened. */
  readonly hello: readonly [object, { readonly servers: readonly ServerSnapshot[]; readonly revisions: readonly string[] }];
  readonly connect: readonly [{ readonly target: ServerTarget }, { readonly server: string }];
  /** Closes the connection; with `forgets`, removes the server too. */
  readonly disconnect: readonly [{ readonly server: string; readonly forgets: boolean }, void];
  readonly reconnect: readonly [{ readonly server: string }, void];
  readonly list: readonly [
    { readonly server: string; readonly list: ListName },
    { readonly items: readonly JsonObject[]; readonly isCut: boolean },
  ];
  /** Sends any request of MCP. Progress of the page's request is the progress of the server's. */
  readonly request: readonly [
    { readonly server: string; readonly method: string; readonly params: JsonObject },
    { readonly result: JsonObject; readonly problem?: string | undefined },
  ];
  /** Calls a tool as a task. Without a task id, the tool answered at once. */
  readonly startTask: readonly [
    { readonly server: string; readonly tool: string; readonly args: JsonObject },
    { readonly task?: string | undefined; readonly result?: JsonObject | undefined },
  ];
  readonly cancelTask: readonly [{ readonly server: string; readonly task: string }, void];
  readonly subscribe: readonly [{ readonly server: string; readonly uri: string; readonly isOn: boolean }, void];
  /** Answers an `Ask`; without an answer it is refused with an error. */
  readonly answer: readonly [{ readonly server: string; readonly ask: string; readonly answer?: JsonObject | undefined }, void];
  readonly setRoots: readonly [{ readonly server: string; readonly roots: readonly Root[] }, void];
  readonly setLogLevel: readonly [{ readonly server: string; readonly level: LoggingLevel }, void];
  /** The text of one message on the wire: its first `most` characters, 8 Mi at most. */
  readonly message: readonly [
    { readonly server: string; readonly seq: number; readonly most: number },
    { readonly text: string; readonly isCut: boolean },
  ];
  /** One message as a command for a shell, or as a test. */
  readonly copy: readonly [{ readonly server: string; readonly seq: number; readonly as: CopyForm }, { readonly text: string }];
}

export type CopyForm = 'curl' | 'test';
export type InspectorMethod = keyof InspectorRequests;
