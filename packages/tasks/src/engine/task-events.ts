/** What processes that share tasks tell each other on the server's message bus. */

import type { BusMessage, ExtensionHost, TaskRecord } from '@mortise/protocol/contracts';
import { toDetailedTask } from '../wire.ts';

/** What the engine uses of the server's message bus. */
export type TaskEvents = Pick<ExtensionHost, 'publish' | 'subscribe' | 'hasMessageBus'>;

/** The topic under which changes of a task are published. */
export function topicOf(taskId: string): string {
  return `task:${taskId}`;
}

/** The topic under which an engine hears that another process has changed one of its tasks. The payload is the task's id. */
export function ownerTopic(owner: string): string {
  return `engine:${owner}`;
}

/** Makes the message that carries a task's state to those who follow the task. */
export function toEvent(record: TaskRecord): BusMessage {
  return { topic: topicOf(record.id), principal: record.principal, payload: { version: record.version, task: toDetailedTask(record) } };
}

/** Tells the processes that follow a changed task, and the one that runs it. @param self The owner whose process this is; undefined for none. */
export async function announce(record: TaskRecord, publish: TaskEvents['publish'], self: string | undefined): Promise<void> {
  const { owner } = record;
  const told = [publish(toEvent(record))];
  if (owner !== undefined && owner !== self) told.push(publish({ topic: ownerTopic(owner), payload: record.id }));
  await Promise.all(told);
}
