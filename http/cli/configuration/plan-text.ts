import { writeJson } from "../../../actors/exact-json.js";
import { toLine } from "../command/printable.js";
import type { Terminal } from "../command/terminal.js";
import type { FieldChange } from "./differences.js";
import type { LiveResource } from "./live.js";
import type { Plan, Step } from "./make-plan.js";
import { placeText } from "./refused.js";
import type { Secrets } from "./secrets.js";
import { diffLines } from "./text-diff.js";
import type { Value } from "./value.js";

/** A step as `--json` prints it. */
export interface ShownStep {
  readonly action: Step["action"];
  readonly kind: string;
  readonly address: string;
  /** The name in the folder; null for a resource that the folder does not have. */
  readonly resource: string | null;
  /** `main.tf:12`; null for a resource that the folder does not have. */
  readonly place: string | null;
  /** Null for a resource that does not exist yet. */
  readonly id: string | null;
  readonly fields: readonly FieldChange[];
}

/** Returns a step without secret values. */
export function toShown(step: Step, secrets: Secrets): ShownStep {
  if (step.action === "delete") {
    const { kind, address, id } = step.live;
    return {
      action: "delete",
      kind: kind.name,
      address: secrets.hide(address),
      resource: null,
      place: null,
      id,
      fields: [],
    };
  }
  const { resource, address } = step.wanted;
  return {
    action: step.action,
    kind: resource.kind.name,
    address: secrets.hide(address),
    resource: resource.name,
    place: placeText(resource.block.place),
    id: step.action === "update" ? step.live.id : null,
    fields: step.fields.map((change) => withoutSecrets(change, secrets)),
  };
}

function withoutSecrets(change: FieldChange, secrets: Secrets): FieldChange {
  const isSecret = secrets.areIn(change.old) || secrets.areIn(change.new);
  const field = secrets.hide(change.field);
  return isSecret ? { field, old: null, new: null, isSecret } : { ...change, field };
}

/** Returns a plan as JSON. */
export function planJson({ target, steps, others, notCompared }: Plan, secrets: Secrets) {
  return {
    workspace: { ...target, slug: secrets.hide(target.slug) },
    changes: steps.map((step) => toShown(step, secrets)),
    notInFolder: others.map(({ kind, address, id }) => ({ kind: kind.name, address: secrets.hide(address), id })),
    notCompared: notCompared.map((each) => ({ ...each, address: secrets.hide(each.address) })),
  };
}

/** Names a step in a sentence: `create line core/web (service_line.core_web, main.tf:12)`. */
export function stepText(step: Step, secrets: Secrets): string {
  const { action, kind, address, resource, place } = toShown(step, secrets);
  const verb = { create: "create", update: "change", delete: "delete" }[action];
  return toLine(`${verb} ${kind} ${address}${resource === null ? "" : ` (${resource}, ${place})`}`);
}

const signs = { create: ["+", "green"], update: ["~", "yellow"], delete: ["-", "red"] } as const;

/** Lays out a plan: each step with its fields, and the number of steps. */
export function planLines(terminal: Terminal, plan: Plan, secrets: Secrets): string[] {
  const { steps, others, target, notCompared } = plan;
  const lines = steps.flatMap((step) => {
    const [sign, colour] = signs[step.action];
    const was =
      step.action === "create" && step.was !== null ? [`    ${secrets.hide(wasText(step.was, step, plan))}`] : [];
    const fields = toShown(step, secrets).fields.flatMap((field) => fieldLines(terminal, step, field));
    const isNew = secrets.hide(newWorkspaceText(step, plan));
    const head = terminal.paint(colour, `${sign} ${stepText(step, secrets)}${isNew}`);
    return [head, ...was, ...fields.map((line) => `    ${line}`)];
  });
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  const sum = `${count("create")} to create, ${count("update")} to change, ${count("delete")} to delete`;
  const rest =
    others.length === 0
      ? []
      : [
          `not in the folder: ${counted(others.length)} of the workspace ${secrets.hide(target.slug)} (--prune deletes them)`,
        ];
  const hidden = notCompared.length === 0 ? [] : [notComparedText(notCompared.length)];
  return [...lines, steps.length === 0 ? "no changes" : sum, ...rest, ...hidden];
}

function notComparedText(count: number): string {
  const what = count === 1 ? "1 secret value" : `${count} secret values`;
  return `not compared: ${what} (sent when the version beside it changes)`;
}

function counted(count: number): string {
  return count === 1 ? "1 resource" : `${count} resources`;
}

/** Says that the step creates a new resource, and what happens to the resource that the import block names. */
function wasText(
  was: string,
  { wanted }: Extract<Step, { readonly action: "create" }>,
  { steps, others }: Plan,
): string {
  const isIt = ({ kind, address }: LiveResource) => kind === wanted.resource.kind && address === was;
  const isDeleted = steps.some((step) => step.action === "delete" && isIt(step.live));
  const stays = others.some(isIt) ? `; ${was} stays until --prune deletes it` : "";
  return toLine(`a key cannot change, so this is a new resource${isDeleted ? `; ${was} is deleted` : stays}`);
}

/**
 * Returns a remark if the step creates a workspace although import blocks name another workspace; otherwise an empty
 * string.
 */
function newWorkspaceText(step: Step, { isElsewhere, target }: Plan): string {
  const isNew = isElsewhere && step.action === "create" && step.wanted.resource.kind.heldBy === "none";
  return isNew ? toLine(`: creates a new workspace ${JSON.stringify(target.slug)}`) : "";
}

/** Lays out a field in one line. A changed text of several lines becomes a diff. */
function fieldLines(terminal: Terminal, { action }: Step, change: FieldChange): readonly string[] {
  const { old, new: now, isSecret } = change;
  const field = toLine(change.field);
  if (isSecret === true) return [`${field}: (secret)`];
  const [before, after] = shortened(old, now);
  if (action === "create") return [`${field}: ${after}`];
  const diff = typeof old === "string" && typeof now === "string" ? diffLines(terminal, old, now) : null;
  return diff === null ? [`${field}: ${before} → ${after}`] : [`${field}:`, ...diff.map((line) => `  ${line}`)];
}

/** Maximum length of a value in a line, in characters. */
const SHOWN = 70;

/** Converts two values to one line each. Cuts long values so that their first difference is visible. */
function shortened(old: Value, now: Value): readonly [string, string] {
  const [before, after] = [valueText(old), valueText(now)];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = same > SHOWN / 2 && Math.max(before.length, after.length) > SHOWN ? same - SHOWN / 4 : 0;
  return [cut(before, from), cut(after, from)];
}

function cut(text: string, from: number): string {
  const shown = `${from > 0 ? "…" : ""}${text.slice(from, from + SHOWN)}`;
  return toLine(from + SHOWN < text.length ? `${shown}…` : shown);
}

function valueText(value: Value): string {
  return value === null ? "(not set)" : writeJson(value);
}
