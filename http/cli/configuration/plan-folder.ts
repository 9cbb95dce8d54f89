import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { refuseUnwritable } from "./dry-run.js";
import { Folder } from "./folder.js";
import { FolderFiles } from "./folder-files.js";
import { type Module, readModule } from "./hcl-module.js";
import { ResourceApi, type TargetWorkspace } from "./live.js";
import { makePlan, type Plan } from "./make-plan.js";
import { Faults, placeText, refuse } from "./refused.js";
import { Scope } from "./scope.js";
import type { Secrets } from "./secrets.js";
import { readVariables, type VariableOptions, type Variables } from "./variables.js";

export interface PlanOptions extends CommonOptions, VariableOptions {
  readonly workspace?: string;
  readonly prune?: true;
}

/** A plan, and the objects that an apply needs to carry out the plan. */
export interface PlannedFolder {
  readonly plan: Plan;
  readonly folder: Folder;
  readonly api: ResourceApi;
  readonly secrets: Secrets;
}

/**
 * Makes the plan of a folder: compares the folder with the service, and asks the service which steps it would refuse.
 * Changes nothing.
 */
export async function planFolder(context: Context, options: PlanOptions, given = "."): Promise<PlannedFolder> {
  const module = await readModule(new FolderFiles(context.terminal.folder, given));
  const variables = await readVariables(context, module, options);
  return variables.secrets.guard(() => planModule(context, module, variables, options));
}

async function planModule(
  context: Context,
  module: Module,
  variables: Variables,
  options: PlanOptions,
): Promise<PlannedFolder> {
  const target = await findTarget(context, module, variables, options);
  const api = new ResourceApi(context.client);
  const live = target.id === null ? [] : await api.list(target.id);
  const folder = new Folder(module, variables, { target, live });
  const plan = makePlan(folder, { target, live, isPruned: options.prune === true });
  for (const note of plan.notes) context.terminal.note(note);
  await refuseUnwritable(context, plan, api);
  return { plan, folder, api, secrets: variables.secrets };
}

/**
 * Returns the workspace that the folder describes. If the folder describes no workspace, returns the workspace of
 * `--workspace`, `--team` or the defaults, or the caller's only workspace.
 */
async function findTarget(
  context: Context,
  module: Module,
  variables: Variables,
  { workspace: wish }: PlanOptions,
): Promise<TargetWorkspace> {
  const slug = readSlug(module, variables);
  if (slug === null) return context.names.workspace(wish);
  const wished = wish === undefined ? null : await context.names.workspace(wish);
  if (wished !== null && wished.slug !== slug) {
    const message = `the folder describes the workspace ${slug}, not ${wished.slug}: omit --workspace`;
    throw new CommandError(message, exitCodes.usage);
  }
  const all = await context.names.workspaces();
  return { slug, id: all.find((each) => each.slug === slug)?.id ?? null };
}

function readSlug(module: Module, { values }: Variables): string | null {
  const faults = new Faults();
  const [workspace, other] = [...module.resources.values()].filter(({ kind }) => kind.heldBy === "none");
  const slug = faults.try(() => {
    if (workspace === undefined) return null;
    if (other !== undefined) {
      refuse(other.block.place, `a folder may have one workspace; ${placeText(workspace.block.place)} has one too`);
    }
    const scope = new Scope(module, { variable: (name) => values.get(name), id: () => null });
    const value = scope.attribute(workspace, "slug");
    return typeof value === "string"
      ? value
      : refuse(workspace.block.place, `${workspace.name} needs the attribute slug`);
  });
  faults.end();
  return slug ?? null;
}
