/** Adds the name of a server to the spans of its client. */

import type { Tracer } from '@mortise/protocol/contracts';

/** Returns a tracer whose spans have the attribute `mortise.server`. */
export function withServerName(tracer: Tracer, server: string): Tracer {
  return {
    startSpan(name, kind, parent) {
      const span = tracer.startSpan(name, kind, parent);
      span.setAttribute('mortise.server', server);
      return span;
    },
    run: (span, fn) => tracer.run(span, fn),
  };
}
