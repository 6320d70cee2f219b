/** An engine of its own, with what a test leaves out. */

import { silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryTaskQueue } from '@mortise/tasks';
import { TaskEngine, type TaskEngineInit } from '../../src/engine/task-engine.ts';

/** @param init Tasks that it does not run wait for another engine. */
export function createEngine(init: Partial<TaskEngineInit> & Pick<TaskEngineInit, 'store'>): TaskEngine {
  const { clock = systemClock } = init;
  return new TaskEngine({
    queue: new MemoryTaskQueue({ clock }),
    run: () => Promise.reject(new Error('This engine runs no tasks')),
    onChanged: () => undefined,
    onReport: () => undefined,
    limits: {},
    leaseMs: 30_000,
    logger: silentLogger,
    meter: undefined,
    clock,
    ...init,
  });
}
