import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { showList } from "../command/list-limit.js";
import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";
import { listTeamHooks } from "./hook-names.js";

/** Lists the team's hooks, with their firings of the last 24 hours. */
export async function listHooks(context: Context): Promise<void> {
  const { names, terminal } = context;
  const team = await names.team();
  const items = await listTeamHooks(context, team);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const list = { items, hasMore: false };
  showList(context, list, {
    none:
      `the team ${team.key} has no hooks: create one with ` +
      "signalbox hook create <key> --event task.opened --receiver https://…",
    toLines: () =>
      toTable(
        terminal,
        [
          { title: "hook", of: ({ key }) => key, isFlexible: true },
          { title: "event", of: ({ on }) => on },
          { title: "last 24 h", of: toHealth, isFlexible: true },
          { title: "next retry", of: ({ health }) => toTimeText(terminal, health?.nextRetryAt ?? null), isMinor: true },
          { title: "failure", of: ({ failure }) => failure, isMinor: true },
          { title: "steps", of: toSteps, isFlexible: true },
          { title: "condition", of: toCondition, isFlexible: true },
        ],
        items,
      ),
  });
  for (const { key, warnings } of items) {
    for (const { path, message } of warnings) terminal.note(`warning: hook ${key}: ${path} ${message}`);
  }
}

/** Shows what a hook does and when, and its firings of the last 24 hours. */
export function describeHook(terminal: Terminal, hook: Schema<"Hook">): readonly string[] {
  return toFields(terminal, [
    ["hook", hook.address],
    ["id", hook.id],
    ["event", hook.on],
    ["last 24 h", toHealth(hook)],
    ["next retry", toTimeText(terminal, hook.health?.nextRetryAt ?? null)],
    ["condition", toCondition(hook)],
    ["steps", toSteps(hook)],
    ["signing", toSigning(hook)],
    ["on failure", hook.failure],
    ["timeout", `${hook.timeoutSeconds} s`],
  ]);
}

/** Describes the hook's health in words; null if the caller cannot read it. */
function toHealth({ health }: Schema<"Hook">): string | null {
  if (health === null) return null;
  const { delivered, refused, failed, waiting } = health;
  const counts = Object.entries({ delivered, refused, failed, waiting }).filter(([, count]) => count > 0);
  return counts.length === 0 ? "none" : counts.map(([name, count]) => `${count} ${name}`).join(", ");
}

/** Describes the conditions in words: lists of names, and `when`. Empty if there are none. */
function toCondition({ match, when }: Schema<"Hook">): string {
  const lists = Object.entries(match).flatMap(([name, values]) =>
    values.length === 0 ? [] : [`${name}: ${values.join(", ")}`],
  );
  return [...lists, ...(when === null ? [] : [`when ${when}`])].join("; ");
}

function toSteps({ steps }: Schema<"Hook">): string {
  return steps.map(({ name, call, request }) => `${name} ${call ?? request?.url ?? ""}`.trim()).join("; ");
}

function toSigning({ signing }: Schema<"Hook">): string | null {
  if (signing === null) return null;
  return signing.oidc === undefined ? "a secret" : `OIDC token for ${signing.oidc.audience}`;
}
