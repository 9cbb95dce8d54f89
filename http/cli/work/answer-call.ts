import { listAll } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { parseIdBeginning } from "../command/id-beginning.js";
import { pickId } from "../command/names.js";
import { type Approval, answerApproval, describeCall, listOpenApprovals, type Verdict } from "./approvals.js";
import { nameRun } from "./name-run.js";
import { readText } from "./read-text.js";

/** The option `--approval`, for a run that waits for several approvals. */
export interface ApprovalOption extends CommonOptions {
  readonly approval?: string;
}

/** The options of `run dismiss`. */
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
  const approval = await answerApproval(context, found, verdict);
  const { edited, state } = approval;
  const inputs = edited ?? approval.inputs;
  context.show(approval, () => [`${approval.id}: ${state} ${describeCall({ ...approval, inputs, reason: "" })}`]);
}

function parseInputs(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The message below says what is wanted.
  }
  throw new CommandError('the inputs must be a JSON object, such as {"command":"npm test"}', exitCodes.usage);
}

/** Finds an approval by its id, a unique beginning of it, or as the only one that a run waits for. */
async function findApproval(
  context: Context,
  { approval }: ApprovalOption,
  name: string | undefined,
): Promise<ApprovalId> {
  const wanted = approval ?? (/^apr_/i.test(name ?? "") ? name : undefined);
  const beginning = wanted === undefined ? undefined : parseIdBeginning("apr", wanted);
  if (beginning === null) throw new CommandError(`${wanted} is not the id of an approval: signalbox inbox lists them`);
  if (beginning !== undefined && (approval === undefined || name === undefined)) {
    return await findByBeginning(context, beginning);
  }
  const runId = await nameRun(context, name);
  const open = await listOpenApprovals(context, runId);
  if (beginning !== undefined) {
    return {
      id: pickId(
        "approval",
        beginning.text,
        open.map(({ id }) => id),
      ),
      runId,
    };
  }
  const [only, ...others] = open;
  if (only === undefined) throw new CommandError(`the run ${runId} waits for no approval`);
  if (others.length === 0) return only;
  const calls = open.map((each) => `  ${each.id}: ${describeCall(each)}`).join("\n");
  throw new CommandError(`the run waits for ${open.length} approvals: name one with --approval\n${calls}`);
}

async function findByBeginning(
  { client, signal }: Context,
  { text, isWhole }: { readonly text: string; readonly isWhole: boolean },
): Promise<ApprovalId> {
  if (isWhole) {
    const { approval } = await client.get("/api/inbox/{id}", { path: { id: text }, signal });
    if (approval !== null) return approval;
    throw new CommandError(`${text} is not an approval`);
  }
  const open: ApprovalId[] = [];
  const all = listAll(client, "/api/approvals", "before", { query: { state: "open", limit: 200 }, signal });
  for await (const each of all) open.push(each);
  const id = pickId(
    "approval",
    text,
    open.map((each) => each.id),
  );
  const found = open.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new CommandError(`no approval that waits for you begins with ${text}: signalbox inbox lists them`);
}
