import type { Logger } from './instruments.ts';
import { silentLogger } from './system-clock.ts';

/**
 * Makes a logger safe to call: one that throws or rejects, perhaps over a strange value, must not cost a request its answer, nor end the process.
 *
 * @param logger What it says is lost where it fails: there is nowhere left to say so.
 */
export function guardLogger(logger: Logger): Logger {
  if (logger === silentLogger) return logger;
  return {
    log(level, message, data) {
      try {
        const written: unknown = logger.log(level, message, data);
        if (written instanceof Promise) written.catch(() => undefined);
      } catch {
        // There is nowhere left to say it.
      }
    },
  };
}
