import type { Address } from "./cells/address.js";

/** One span of a trace. Only the {@link Tracing} that made it knows what it holds. */
export interface Span {
  /** Ends the span. `error` is the name of a failure, without data; omit it for a success. */
  end(error?: string): void;
}

/**
 * Records how work follows from other work: a request, the turns of its messages, their flush, and the effects that they
 * start. The runtime passes spans on in memory, so work that continues after a restart or a wake-up begins no trace.
 */
export interface Tracing {
  /** The span that the running code belongs to; null for none. */
  current(): Span | null;
  /** Begins a span below another. The attributes contain ids and kinds, and no message contents. */
  begin(parent: Span, name: string, attributes: Readonly<Record<string, string>>): Span;
  /** Runs code that belongs to a span, or to none. Everything that the code awaits belongs to the same span. */
  within<Result>(span: Span | null, work: () => Result): Result;
}

/** An id that the runtime created. Any other id may be an email address or a text that a person wrote. */
const OWN_ID = /^[a-z-]+_[0-9A-Z]{26}(?:-[0-9A-Z]+)?$/;

/** Returns the attributes that name an actor. The actor's id is among them only if the runtime created it. */
export function toAttributes({ partition, kind, id }: Address): Readonly<Record<string, string>> {
  const named = { "signalbox.workspace.id": partition, "signalbox.actor.kind": kind };
  return OWN_ID.test(id) ? { ...named, "signalbox.actor.id": id } : named;
}
