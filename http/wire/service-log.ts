import type { RuntimeLog } from "../../runtime/runtime.js";

/** An answered request, for log and metrics. Contains nothing that a client sent except its method. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, or null when none matched. */
  readonly route: string | null;
  /** 499 when the client went away before there was an answer. */
  readonly status: number;
  /** Time until the answer was made, or until a streamed one was sent. */
  readonly seconds: number;
  /** Whether the connection ended before all of a streamed answer was sent. */
  readonly isCut: boolean;
}

/**
 * The service's log. Every line is made from named fields: no header, body, path or token is ever passed to it, so none
 * can be in a log. The one exception is {@link ServiceLog.mail}.
 */
export interface ServiceLog extends RuntimeLog {
  info(message: string): void;
  /** Writes a mail when no mail server is set up, at every level: without it nobody could sign in. */
  mail(line: string): void;
  /** A request that is answered, after what it failed by. */
  served(served: ServedRequest): void;
  /** Of requests that met the same damaged row only the first is an error and a warning; the others are for debugging. */
  failed(requestId: string, error: unknown): void;
}
