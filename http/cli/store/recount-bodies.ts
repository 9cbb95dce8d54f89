import { referringTables } from "../../../actors/catalogue.js";
import { type RecountFinding, recountAllBlobs } from "../../../actors/tables/blob-recount.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { openStoppedStore, type StoppedOptions } from "./stopped-store.js";
import { onStore } from "./store-errors.js";

/**
 * Recounts the rows that refer to diffs, skills and other large bodies. Prints and corrects the differences. Throws a
 * {@link CommandError} if a body is missing.
 */
export async function recountBodies(context: Context, { data }: StoppedOptions): Promise<void> {
  const { terminal, isJson } = context;
  const findings = await onStore(async () => {
    const store = await openStoppedStore(terminal, data);
    const found: RecountFinding[] = [];
    for await (const finding of recountAllBlobs(store, { referring: referringTables, nowMs: Date.now() })) {
      if (!isJson) terminal.print(line(finding));
      found.push(finding);
    }
    await store.close();
    return found;
  });
  const missing = findings.filter(({ isMissing }) => isMissing).length;
  const corrected = findings.length - missing;
  context.show({ data, corrected, missing, findings }, () => [
    `recounted the bodies of ${data}: ${corrected} corrected`,
  ]);
  if (missing > 0) throw new CommandError(`${missing} missing: restore them from a backup`);
}

/** Formats a finding: workspace, digest, and the stored and actual counts. */
function line({ workspaceId, digest, counted, rows, isMissing }: RecountFinding): string {
  const before = counted === null ? "not counted" : `counted ${counted}`;
  return [workspaceId, digest, `${isMissing ? "missing, " : ""}${before}, rows that refer to it: ${rows}`].join("\t");
}
