import { writeJson } from "../../../actors/exact-json.js";
import { listAll, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toLine } from "../command/printable.js";

export type Approval = Schema<"ApprovalOutput">;

/** An answer to an approval. */
export type Verdict =
  | { readonly kind: "approve" }
  | { readonly kind: "edit"; readonly inputs: Readonly<Record<string, unknown>> }
  | { readonly kind: "dismiss"; readonly reason: string | null };

/** Answers an approval. Returns the answered approval. */
export async function answerApproval(
  { client }: Context,
  { id, runId }: Pick<Approval, "id" | "runId">,
  verdict: Verdict,
): Promise<Approval> {
  const path = { runId, approvalId: id };
  switch (verdict.kind) {
    case "approve":
      return await client.post("/api/runs/{runId}/approvals/{approvalId}/approve", { path, body: {} });
    case "edit": {
      const body = { inputs: verdict.inputs };
      return await client.post("/api/runs/{runId}/approvals/{approvalId}/edit", { path, body });
    }
    case "dismiss": {
      const body = { reason: verdict.reason };
      return await client.post("/api/runs/{runId}/approvals/{approvalId}/dismiss", { path, body });
    }
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

/** Describes the call of an approval in one line. */
export function describeCall({ tool, inputs, reason }: Pick<Approval, "tool" | "inputs" | "reason">): string {
  return toLine(`${tool} ${writeJson(inputs)}${reason === "" ? "" : ` (${reason})`}`);
}
