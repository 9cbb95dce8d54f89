import { listAll } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { type LimitOption, showList, takeItems, toPageSize } from "../command/list-limit.js";
import { toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";
import type { EventName, firingStates } from "./event-names.js";
import { findHook } from "./hook-names.js";

interface LogOptions extends LimitOption {
  readonly event?: EventName;
  readonly state?: (typeof firingStates)[number];
}

/** Lists the firings of the team's hooks, newest first. */
export async function listFirings(context: Context, options: LogOptions, name: string | undefined): Promise<void> {
  const { client, signal, terminal } = context;
  const { event, state, limit } = options;
  const found = name === undefined ? null : await findHook(context, name);
  const team = found?.team ?? (await context.names.team());
  const firings = listAll(client, "/api/teams/{teamId}/hook-occurrences", "before", {
    path: { teamId: team.id },
    query: {
      limit: toPageSize(limit),
      ...(found === null ? {} : { hook: found.hook.key }),
      ...(event === undefined ? {} : { event }),
      ...(state === undefined ? {} : { state }),
    },
    signal,
  });
  const list = await takeItems(firings, limit);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const isFiltered = found !== null || event !== undefined || state !== undefined;
  showList(context, list, {
    none: isFiltered ? `the team ${team.key} has no matching firings` : `no hook of the team ${team.key} has fired yet`,
    toLines: () =>
      toTable(
        terminal,
        [
          { title: "firing", of: ({ id }) => id },
          { title: "fired", of: ({ firedAt }) => toTimeText(terminal, firedAt) },
          { title: "hook", of: ({ hook }) => hook, isFlexible: true },
          { title: "event", of: ({ on, test }) => (test ? `${on} (test)` : on), isMinor: true },
          { title: "state", of: (firing) => firing.state },
          { title: "attempts", of: ({ attempts }) => attempts.length, isMinor: true },
          {
            title: "why",
            of: ({ reason, refused, attempts }) => refused ?? reason ?? attempts.at(-1)?.reason,
            isFlexible: true,
          },
        ],
        list.items,
      ),
  });
}
