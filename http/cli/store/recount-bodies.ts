import { Command } from "commander";
import { referringTables } from "../../../actors/catalogue.js";
import { type RecountFinding, recountAllBlobs } from "../../../actors/tables/blob-recount.js";
import { openStoppedStore } from "./stopped-store.js";

/**
 * `signalbox recount-bodies`: recounts the rows that refer to diffs, skills and other large bodies. Prints and corrects
 * the differences.
 */
const program = new Command("signalbox recount-bodies")
  .description("Recount the references to diffs and other large bodies in a stopped service's store, and correct them.")
  .requiredOption("--data <folder>", "the data folder of a service that is stopped");

try {
  const { data } = program.parse().opts<{ readonly data: string }>();
  const store = await openStoppedStore(data);
  const found = { wrong: 0, missing: 0 };
  for await (const finding of recountAllBlobs(store, { referring: referringTables, nowMs: Date.now() })) {
    console.log(line(finding));
    found[finding.isMissing ? "missing" : "wrong"] += 1;
  }
  await store.close();
  console.log(`recounted the bodies of ${data}: ${found.wrong} corrected`);
  if (found.missing > 0) throw new Error(`${found.missing} missing: restore them from a backup`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** Formats a finding: workspace, digest, and the stored and actual counts. */
function line({ workspaceId, digest, counted, rows, isMissing }: RecountFinding): string {
  const before = counted === null ? "not counted" : `counted ${counted}`;
  return [workspaceId, digest, `${isMissing ? "missing, " : ""}${before}, rows that refer to it: ${rows}`].join("\t");
}
