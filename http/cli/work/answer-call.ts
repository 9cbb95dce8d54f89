import { readJson } from "../../../actors/exact-json.js";
import { listAll } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { type IdPrefix, parseIdPrefix, pickId } from "../command/id-prefix.js";
import { type Approval, answerApproval, describeCall, listOpenApprovals, type Verdict } from "./approvals.js";
import { nameRun } from "./current-task.js";
import { readText } from "./read-text.js";
import { onRun } from "./refusals.js";

/** The option `--approval`, for a run that waits for several approvals. */
export interface ApprovalOption extends CommonOptions {
  readonly approval?: string;
}

export interface DismissOptions extends ApprovalOption {
  readonly reason?: string;
}

type ApprovalId = Pick<Approval, "id" | "runId">;

/** Approves the call that an agent waits for. */
export async function approveCall(context: Context, options: ApprovalOption, name?: string): Promise<void> {
  await answer(context, await findApproval(context, options, name), { kind: "approve" });
}

/** Approves the call with other inputs, given as JSON. */
export async function editCall(context: Context, options: ApprovalOption, text: string, name?: string): Promise<void> {
  const inputs = parseInputs(await readText(context, text));
  await answer(context, await findApproval(context, options, name), { kind: "edit", inputs });
}

/** Denies the call. */
export async function dismissCall(context: Context, options: DismissOptions, name?: string): Promise<void> {
  const approval = await findApproval(context, options, name);
  await answer(context, approval, { kind: "dismiss", reason: options.reason ?? null });
}

async function answer(context: Context, found: ApprovalId, verdict: Verdict): Promise<void> {
  const approval = await onRun(context, found.runId, answerApproval(context, found, verdict));
  const { edited, state } = approval;
  const inputs = edited ?? approval.inputs;
  context.show(approval, () => [`${approval.id}: ${state} ${describeCall({ ...approval, inputs, reason: "" })}`]);
}

function parseInputs(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = readJson(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Ignore the JSON error: the error below says what the inputs must be.
  }
  throw new CommandError('the inputs must be a JSON object, such as {"command":"npm test"}', exitCodes.usage);
}

/**
 * Finds an approval by its id or a unique id prefix. If the name is a run, finds the only approval that the run waits
 * for.
 */
async function findApproval(
  context: Context,
  { approval }: ApprovalOption,
  name: string | undefined,
): Promise<ApprovalId> {
  const wanted = approval ?? (/^apr_/i.test(name ?? "") ? name : undefined);
  const prefix = wanted === undefined ? undefined : parseIdPrefix("apr", wanted);
  if (prefix === null) throw new CommandError(`${wanted} is not an approval id: signalbox inbox lists them`);
  if (prefix !== undefined && (approval === undefined || name === undefined)) {
    const found = await findByPrefix(context, prefix);
    await nameRun(context, found.runId);
    return found;
  }
  const { id: runId } = await nameRun(context, name);
  const open = await listOpenApprovals(context, runId);
  if (prefix !== undefined) {
    const ids = open.map(({ id }) => id);
    return { id: pickId(prefix.text, ids), runId };
  }
  const [only, ...others] = open;
  if (only === undefined) throw new CommandError(`the run ${runId} has no open approval`);
  if (others.length === 0) return only;
  const calls = open.map((each) => `  ${each.id}: ${describeCall(each)}`).join("\n");
  throw new CommandError(`the run has ${open.length} open approvals: choose one with --approval\n${calls}`);
}

async function findByPrefix({ client }: Context, { text, isWhole }: IdPrefix): Promise<ApprovalId> {
  if (isWhole) {
    const { approval } = await client.get("/api/inbox/{id}", { path: { id: text } });
    if (approval !== null) return approval;
    throw new CommandError(`${text} is not an approval`);
  }
  const open: ApprovalId[] = [];
  const all = listAll(client, "/api/approvals", "before", { query: { state: "open", limit: 200 } });
  for await (const each of all) open.push(each);
  const ids = open.map((each) => each.id);
  const id = pickId(text, ids);
  const found = open.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new CommandError(`no open approval has the prefix ${text}: signalbox inbox lists them`);
}
