import { type DestinationStream, pino } from "pino";
import { isDamage, StoreError } from "../../storage/store.js";
import type { Config } from "../wire/config.js";
import type { ServiceLog } from "../wire/service-log.js";

/**
 * Creates a log that writes JSON lines to standard output or to `destination`. Each line has a level name and an ISO
 * time.
 */
export function createLog(level: Config["logLevel"], destination?: DestinationStream): ServiceLog {
  const form = { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: toLevelName } };
  // Write synchronously, so that the last lines before the process exits are neither lost nor out of order.
  const logger = pino({ level, ...form }, destination ?? pino.destination({ dest: 1, sync: true }));
  const damage = new KnownDamage();
  const mails = logger.child({}, { level: "info" });
  return {
    info: (message, details = {}) => logger.info(plain(details), message),
    mail: (line) => mails.info(line),
    warn: (message, details) => logger.warn(plain(details), message),
    error: (message, details) => logger.error(plain(details), message),
    served: ({ requestId, method, route, status, seconds, isCut }) => {
      const level = status >= 500 && !damage.wasKnownTo(requestId) ? "warn" : "debug";
      if (!logger.isLevelEnabled(level)) return;
      const ms = Math.round(seconds * 1e6) / 1e3;
      logger[level]({ requestId, method, route, status, ms, ...(isCut ? { isCut } : {}) }, "request");
    },
    failed: (requestId, error) => {
      const level = damage.isKnownTo(requestId, error) ? "debug" : "error";
      if (logger.isLevelEnabled(level)) logger[level]({ requestId, error: toTrace(error) }, "request failed");
    },
  };
}

/** Maximum number of damaged rows to track, the same as in the runtime. `signalbox doctor` finds all. */
const MAX_DAMAGED = 1_000;

/** The damaged rows that requests have read. Limits the log to one error per damaged row. */
class KnownDamage {
  readonly #met = new Set<string>();

  /** Ids of requests that failed on known damage and whose `served` log line is not written yet. */
  readonly #failed = new Set<string>();

  /**
   * Returns whether the request failed on a damaged row that an earlier request already read. Records a row that is
   * new.
   */
  isKnownTo(requestId: string, error: unknown): boolean {
    if (!isDamage(error)) return false;
    const row = error.key === null ? error.message : error.key.join("\0");
    const isKnown = this.#met.has(row) || this.#met.size >= MAX_DAMAGED;
    if (isKnown) this.#failed.add(requestId);
    else this.#met.add(row);
    return isKnown;
  }

  /** Returns whether the request failed on known damage, and removes the request's id. A second call returns false. */
  wasKnownTo(requestId: string): boolean {
    return this.#failed.delete(requestId);
  }
}

/** Creates a destination that writes readable lines to standard output. */
export async function openReadable(): Promise<DestinationStream> {
  const { default: pretty } = await import("pino-pretty");
  return pretty({
    sync: true,
    colorize: process.stdout.isTTY === true,
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
  });
}

function toLevelName(level: string): { readonly level: string } {
  return { level };
}

/**
 * Replaces each error in the details by its {@link toTrace}: an error's message may contain the data that caused the
 * error.
 */
function plain(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(details).map(([name, value]) => [
    name,
    value instanceof Error ? toTrace(value) : value,
  ]);
  return Object.fromEntries(entries);
}

/** Returns an error's name and stack frames. Includes the message only for errors whose message this product writes. */
function toTrace(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(error instanceof StoreError ? { code: error.code, message: error.message } : {}),
    at: frames.map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: toTrace(error.cause) }),
  };
}
