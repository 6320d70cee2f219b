/** All stores of one engine, as the packages for Redis and PostgreSQL make them. */

import type { MessageBus } from './message-bus.ts';
import type { EventStore, ReplayStore, SessionStore, StateStore } from './session-stores.ts';
import type { TaskHandleStore, TaskStore } from './task-store.ts';

/** Whether an engine answers, for the health route of a load balancer. */
export interface StoresHealth {
  readonly isUp: boolean;
  /** What does not work, as sentences; empty if all is well. */
  readonly problems: readonly string[];
}

/** The stores and the message bus that the machines of a cluster share. */
export interface ClusterStores extends AsyncDisposable {
  readonly bus: MessageBus;
  readonly tasks: TaskStore;
  readonly sessions: SessionStore;
  readonly events: EventStore;
  readonly states: StateStore;
  readonly replays: ReplayStore;
  /** A store for clients: keeps the ids of the tasks that a client has started. */
  readonly taskHandles: TaskHandleStore;
  /** Asks the engine, by each connection. Never rejects; waits no longer than a call. */
  health(): Promise<StoresHealth>;
  /** Ends the connections when their last answers are there, but not those of a client or pool of the program. Calls then reject. May be called twice. */
  close(): Promise<void>;
}
