import type { RuntimeLog } from "../../runtime/runtime.js";

/** A completed request, for the log and the metrics. It contains no client data except the method. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's path pattern; null if no route matched. */
  readonly route: string | null;
  /** The response status; 499 if the client disconnected before the response was ready. */
  readonly status: number;
  /** Time until the response was ready, or until a streamed response was sent. */
  readonly seconds: number;
  /** Whether the connection closed before a streamed response was complete. */
  readonly isCut: boolean;
}

/**
 * The service's log. It builds every line from named fields. No caller passes a header, body, path or token to the log,
 * so no line contains such data. The one exception is {@link ServiceLog.mail}.
 */
export interface ServiceLog extends RuntimeLog {
  info(message: string, details?: Record<string, unknown>): void;
  /** Logs a mail, at every log level, if no mail server is configured. Without it nobody could sign in. */
  mail(line: string): void;
  /** Logs a completed request. For a failed request, call `failed` first. */
  served(served: ServedRequest): void;
  /**
   * Logs a failed request. If several requests fail on the same damaged row, the first request is logged with an error
   * and a warning. The others are logged at debug level.
   */
  failed(requestId: string, error: unknown): void;
}
