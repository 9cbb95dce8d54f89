import { listAll, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toLine } from "../command/printable.js";

export type Approval = Schema<"ApprovalOutput">;

/** An answer to an approval. */
export type Verdict =
  | { readonly kind: "approve" }
  | { readonly kind: "edit"; readonly inputs: Readonly<Record<string, unknown>> }
  | { readonly kind: "dismiss"; readonly reason: string | null };

/** Answers an approval. */
export async function answerApproval(
  { client }: Context,
  { id, runId }: Pick<Approval, "id" | "runId">,
  verdict: Verdict,
): Promise<Approval> {
  const path = { runId, approvalId: id };
  const base = "/api/runs/{runId}/approvals/{approvalId}";
  switch (verdict.kind) {
    case "approve":
      return await client.post(`${base}/approve`, { path, body: {} });
    case "edit":
      return await client.post(`${base}/edit`, { path, body: { inputs: verdict.inputs } });
    case "dismiss":
      return await client.post(`${base}/dismiss`, { path, body: { reason: verdict.reason } });
  }
}

/** Lists the approvals that a run waits for, newest first. */
export async function listOpenApprovals({ client }: Context, runId: string): Promise<readonly Approval[]> {
  const open: Approval[] = [];
  const all = listAll(client, "/api/runs/{runId}/approvals", "before", {
    path: { runId },
    query: { limit: 200 },
  });
  for await (const approval of all) if (approval.state === "open") open.push(approval);
  return open;
}

/** The call that an approval is about, in one line. */
export function describeCall({ tool, inputs, reason }: Pick<Approval, "tool" | "inputs" | "reason">): string {
  return toLine(`${tool} ${JSON.stringify(inputs)}${reason === "" ? "" : ` (${reason})`}`);
}
