import type { PollRow, pollSchema } from "../../integrations/poll.js";
import type { Shown } from "../../view.js";

/** Shows a poll. */
export function pollView({ integrationId: _of, cursorProblem = null, ...poll }: PollRow): Shown<typeof pollSchema> {
  return { ...poll, cursorProblem };
}
