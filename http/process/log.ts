import { type DestinationStream, pino } from "pino";
import pretty from "pino-pretty";
import type { RuntimeLog } from "../../runtime/runtime.js";
import { StoreError } from "../../storage/store.js";
import type { ServedRequest } from "../transport/server.js";
import type { Config } from "./config.js";

/**
 * The service's log. Every line is made from named fields: no header, body, path or token is ever passed to it, so none
 * can be in a log. The one exception is {@link ServiceLog.mail}.
 */
export interface ServiceLog extends RuntimeLog {
  info(message: string): void;
  /** Writes a mail when no mail server is set up, at every level: without it nobody could sign in. */
  mail(line: string): void;
  served(served: ServedRequest): void;
  failed(requestId: string, error: unknown): void;
}

/** Writes JSON lines, or readable ones to a terminal. Tests pass a `destination`. */
export function createLog(level: Config["logLevel"], destination?: DestinationStream): ServiceLog {
  const logger = pino({ level, base: null }, destination ?? standardOutput());
  const mails = logger.child({}, { level: "info" });
  return {
    info: (message) => logger.info(message),
    mail: (line) => mails.info(line),
    warn: (message, details) => logger.warn(plain(details), message),
    error: (message, details) => logger.error(plain(details), message),
    served: ({ requestId, method, route, status, seconds, isCut }) => {
      const level = status >= 500 ? "warn" : "debug";
      if (!logger.isLevelEnabled(level)) return;
      const ms = Math.round(seconds * 1e6) / 1e3;
      logger[level]({ requestId, method, route, status, ms, ...(isCut ? { isCut } : {}) }, "request");
    },
    failed: (requestId, error) => logger.error({ requestId, error: traceOf(error) }, "request failed"),
  };
}

/** Synchronous: the last lines before the process ends are neither lost nor out of order. */
function standardOutput(): DestinationStream {
  if (process.stdout.isTTY) return pretty({ sync: true, colorize: true });
  return pino.destination({ dest: 1, sync: true });
}

/** Details with errors reduced to {@link traceOf}: an error's message may contain data that it failed on. */
function plain(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(details).map(([name, value]) => [
    name,
    value instanceof Error ? traceOf(value) : value,
  ]);
  return Object.fromEntries(entries);
}

/** An error's name and stack frames; its message only for errors whose message is ours. */
function traceOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(error instanceof StoreError ? { code: error.code, message: error.message } : {}),
    at: frames.map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: traceOf(error.cause) }),
  };
}
