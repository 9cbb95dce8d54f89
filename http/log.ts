import { type DestinationStream, pino } from "pino";
import pretty from "pino-pretty";
import type { RuntimeLog } from "../runtime/runtime.js";
import type { Config } from "./config.js";
import type { Served } from "./server.js";

/**
 * What the service says about itself. Every line is made here from named fields: no header, body, path or token is
 * ever handed to it, so none can be in a log.
 */
export interface ServiceLog extends RuntimeLog {
  info(message: string): void;
  served(served: Served): void;
  failed(requestId: string, error: unknown): void;
}

/** JSON lines, or readable ones on a terminal; to `destination` where a test wants to read them. */
export function createLog(level: Config["logLevel"], destination?: DestinationStream): ServiceLog {
  const stream = destination ?? (process.stdout.isTTY ? pretty({ sync: true, colorize: true }) : undefined);
  const logger = stream === undefined ? pino({ level, base: null }) : pino({ level, base: null }, stream);
  return {
    info: (message) => logger.info(message),
    warn: (message, details) => logger.warn(details, message),
    error: (message, details) => logger.error(details, message),
    served: ({ requestId, method, route, status, seconds }) => {
      const line = { requestId, method, route, status, ms: Math.round(seconds * 1e6) / 1e3 };
      if (status >= 500) logger.warn(line, "request");
      else logger.debug(line, "request");
    },
    failed: (requestId, error) => {
      const { name, stack } = error instanceof Error ? error : { name: "unknown", stack: undefined };
      // A stack's first line repeats the message, which may hold a piece of the request.
      const at = stack?.split("\n").slice(1).join("\n");
      logger.error({ requestId, error: name, at }, "request failed");
    },
  };
}
