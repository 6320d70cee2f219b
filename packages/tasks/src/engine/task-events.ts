/** What processes that share tasks tell each other on the server's message bus. */

import type { ExtensionHost, TaskRecord } from '@mortise/protocol/contracts';

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

/** Tells the processes that follow a changed task, and the one that runs it. @param self The owner whose process this is; undefined for none. */
export async function announce(record: TaskRecord, publish: TaskEvents['publish'], self: string | undefined): Promise<void> {
  const { id, owner, version } = record;
  const published = [publish({ topic: topicOf(id), payload: { version } })];
  if (owner !== undefined && owner !== self) published.push(publish({ topic: ownerTopic(owner), payload: id }));
  await Promise.all(published);
}
