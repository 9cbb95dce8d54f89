import { setTimeout as pause } from "node:timers/promises";
import { ApiError, ConnectionError } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes, isInterruption } from "../command/exit-codes.js";

/** The work that {@link watch} waits for. */
interface Watched<Seen> {
  readonly read: () => Promise<Seen>;
  /** A line of progress, which is printed when it changes. */
  readonly progress: (seen: Seen) => string;
  readonly isOver: (seen: Seen) => boolean;
  /** The message after an interruption: it says that the work continues, and which command shows the work. */
  readonly again: string;
}

/**
 * The pause after the first read, and after each change, in milliseconds. While nothing changes, the pause doubles up
 * to {@link LONGEST_PAUSE_MS}.
 */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** The time for which the service may be unreachable before the wait fails, in milliseconds. */
const AWAY_MS = 600_000;

/**
 * Reads repeatedly until `isOver` is true, and returns the last read. Prints progress to standard error. Survives a
 * restart of the service. An interruption ends only the command, not the work at the service.
 */
export async function watch<Seen>(context: Context, watched: Watched<Seen>): Promise<Seen> {
  try {
    return await readUntilOver(context, watched);
  } catch (error) {
    throw isInterruption(error, context.signal) ? new CommandError(watched.again, exitCodes.interrupted) : error;
  }
}

async function readUntilOver<Seen>(
  { terminal, signal }: Context,
  { read, progress, isOver }: Watched<Seen>,
): Promise<Seen> {
  let said = "";
  let pauseMs = FIRST_PAUSE_MS;
  let awayMs = 0;
  for (;;) {
    signal.throwIfAborted();
    const seen = await read().catch((error: unknown) => {
      if (signal.aborted || !isTemporary(error) || awayMs > AWAY_MS) throw error;
      return error;
    });
    const line = seen instanceof Error ? `waiting for the service: ${seen.message}` : progress(seen as Seen);
    if (line !== said) {
      terminal.note(line);
      said = line;
      pauseMs = FIRST_PAUSE_MS;
    }
    if (!(seen instanceof Error) && isOver(seen as Seen)) return seen as Seen;
    awayMs = seen instanceof Error ? awayMs + pauseMs : 0;
    await pause(pauseMs, undefined, { signal });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function isTemporary(error: unknown): error is Error {
  return error instanceof ConnectionError || (error instanceof ApiError && error.isTemporary);
}
