import { Overloaded, type Runtime } from "../../runtime/runtime.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { WriteResult } from "../resources/resource.messages.js";
import { slugClaimsRef } from "./slug-claims.machine.js";
import type { WorkspaceFields } from "./workspace.kind.js";
import { type OpenWorkspace, workspaceRef } from "./workspace.messages.js";

/**
 * Maximum number of slug claims per request. A further claim is needed only if the previous one timed out, which
 * happens on a badly overloaded service.
 */
const MAX_CLAIMS = 3;

/**
 * Opens a workspace. First claims the slug across all workspaces, then asks the workspace to open. If this is
 * interrupted, a repeated request with the same key returns the same workspace. If no workspace confirms the claim, the
 * claim lapses. Throws `Overloaded` if {@link MAX_CLAIMS} claims time out.
 */
export async function openWorkspace(
  runtime: Pick<Runtime, "ask" | "newId">,
  wanted: Omit<OpenWorkspace, "type" | "openBeforeMs">,
): Promise<WriteResult | Refusal> {
  const { slug } = wanted.fields as WorkspaceFields;
  const { idempotency } = wanted;
  for (let claims = 0; claims < MAX_CLAIMS; claims++) {
    const workspaceId = runtime.newId("ws");
    const claimed = await runtime.ask(slugClaimsRef, { type: "slug.claim", slug, workspaceId, idempotency });
    if (isRefusal(claimed)) return claimed;
    const opened = await runtime.ask(workspaceRef(claimed.workspaceId), {
      ...wanted,
      type: "workspace.open",
      openBeforeMs: claimed.openBeforeMs,
    });
    if (!("isTooLate" in opened)) return opened;
  }
  throw new Overloaded("the time of the slug's claim passed before its workspace took its turn");
}
