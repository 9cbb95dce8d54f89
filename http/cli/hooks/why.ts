import type { Answer, Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { parseIdPrefix } from "../command/id-prefix.js";
import { isNotFound, type NamedTeam } from "../command/names.js";
import { toJson, toLine } from "../command/printable.js";
import { toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";
import type { EventName } from "./event-names.js";
import { isOccurrence, listTeamHooks, readFiring, toId } from "./hook-names.js";

type Verdict = Schema<"EventVerdicts">["hooks"][number];
type WorkEvent = Answer<"get", "/api/teams/{teamId}/events">["items"][number];

/** Explains for one event which hooks fired, which did not, and why. */
export async function explainEvent(
  context: Context,
  options: { readonly event?: EventName },
  name: string | undefined,
): Promise<void> {
  const { names, terminal } = context;
  const team = await names.team();
  const { id, others, because } = await findEvent(context, team, options.event, name);
  const { event, hooks } = await readVerdicts(context, team, id);
  context.remember({
    workspace: team.workspace.slug,
    team: team.key,
    ...(event.taskId === "" ? {} : { task: event.taskId }),
  });
  const { on, occurrence, taskId } = event;
  context.show({ ...event, hooks }, () => [
    toLine(`${on} of the task ${taskId}, ${toTimeText(terminal, event.event.at)} (${occurrence})`),
    ...(hooks.length === 0
      ? [`the team ${team.key} has no hooks`]
      : toTable(
          terminal,
          [
            { title: "hook", of: ({ hook }) => hook, isFlexible: true },
            { title: "fired", of: ({ firing, unknown }) => (firing === null ? (unknown ? "unknown" : "no") : "yes") },
            { title: "why", of: explain, isFlexible: true },
          ],
          hooks,
        )),
  ]);
  if (because !== null) terminal.note(because);
  if (others.length > 0) {
    terminal.note("other events of the task:");
    for (const { on, occurrence } of others) terminal.note(`  ${occurrence}  ${on}`);
  }
}

/** An event to explain, and the other latest events of its task. */
interface FoundEvent {
  readonly id: string;
  readonly others: readonly WorkEvent[];
  /** Why this event was chosen, as a note; null if the person gave an event's id or `--event`. */
  readonly because: string | null;
}

/** How many of the latest events to search for an event that a hook fires on. */
const SEARCHED = 50;
/** How many other events to show. */
const OTHERS = 9;

/**
 * Finds an event. Throws a {@link CommandError} if there is none. `name` is one of these:
 *
 * - the id of the event or of one of its firings
 * - a task: the function searches the latest events of the task
 * - undefined: the function searches the latest events of the folder's current task, or else of the team
 *
 * A search takes the latest event of the type `event`. If `event` is omitted, it takes the latest event that a hook of
 * the team fires on, or else the latest event.
 */
async function findEvent(
  context: Context,
  team: NamedTeam,
  event: EventName | undefined,
  name: string | undefined,
): Promise<FoundEvent> {
  if (name !== undefined && isOccurrence(name)) {
    // Read the firing, because a test and a resent firing have an id of their own, not their event's id.
    const firing = await readFiring(context, team, toId(name));
    return { id: firing?.occurrence ?? toId(name), others: [], because: null };
  }
  if (name !== undefined && parseIdPrefix("task", name) === null) {
    throw new CommandError(`${name} is not an event id, a firing id or a task id: signalbox hook log lists firings`);
  }
  const { client, names, defaults, signal } = context;
  const task = name === undefined && defaults.task === undefined ? undefined : await names.task(name);
  const { items } = await client.get("/api/teams/{teamId}/events", {
    path: { teamId: team.id },
    query: { limit: SEARCHED, ...(task === undefined ? {} : { task }), ...(event === undefined ? {} : { event }) },
    signal,
  });
  const [latest] = items;
  const of = task === undefined ? `the team ${team.key}` : `the task ${task}`;
  const what = event === undefined ? "event" : `${event} event`;
  if (latest === undefined) throw new CommandError(`${of} has no ${what} in the team ${team.key} yet`);
  const wanted = new Set<string>((await listTeamHooks(context, team)).map(({ on }) => on));
  const hooked = event === undefined ? items.find(({ on }) => wanted.has(on)) : undefined;
  const chosen = hooked ?? latest;
  const others = task === undefined ? [] : items.filter((item) => item !== chosen).slice(0, OTHERS);
  const which = hooked === undefined ? "the latest event" : "the latest event with a hook";
  const because =
    event === undefined ? `this is ${which} of ${of}: --event <event> or an event's id chooses another` : null;
  return { id: chosen.occurrence, others, because };
}

/** Reads the verdict of every hook of the team. */
async function readVerdicts(
  { client, signal }: Context,
  team: NamedTeam,
  occurrence: string,
): Promise<{ readonly event: WorkEvent; readonly hooks: readonly Verdict[] }> {
  const hooks: Verdict[] = [];
  for (let after: string | undefined; ; ) {
    const options = {
      path: { teamId: team.id, occurrence },
      query: { limit: 200, ...(after === undefined ? {} : { after }) },
      signal,
    };
    const page = await client.get("/api/teams/{teamId}/events/{occurrence}/hooks", options).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new CommandError(
        `the team ${team.key} has no event ${occurrence}: give a task, or name another team with --team`,
      );
    });
    const { hooks: found, next, ...event } = page;
    hooks.push(...found);
    if (next === null) return { event, hooks };
    after = next;
  }
}

/** Says how a hook's firing went, or why the hook did not fire; empty if the service reports neither. */
function explain({ firing, notFired, unknown }: Verdict): string {
  if (firing !== null) return `${firing.state}${firing.code === null ? "" : ` (${firing.code})`}: ${firing.id}`;
  if (notFired === null) return unknown ? "the service no longer stores the firings of that time" : "";
  const { condition, wanted, expression, saw, error } = notFired;
  if (condition === "on") return `it fires on ${String(wanted)}`;
  if (condition === "written") return `its current definition is of ${String(saw)}, after the event`;
  if (error !== null) return `${expression ?? condition} failed: ${error}`;
  if (condition === "when") return `when is false: ${expression ?? ""} with ${toJson(saw)}`;
  return `${condition} must include one of ${toNames(wanted)}; the event has ${toNames(saw)}`;
}

function toNames(value: unknown): string {
  const names = [value].flat().map((name) => (typeof name === "string" ? name : toJson(name)));
  return names.length === 0 ? "none" : names.join(", ");
}
