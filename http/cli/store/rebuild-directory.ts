import { Command } from "commander";
import { createDirectoryCatalogue, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { rebuildDirectories } from "../../../runtime/directories/rebuild-directories.js";
import { openStoppedStore } from "./stopped-store.js";

/** `signalbox rebuild-directory`: rebuilds the directories that map ids, tokens and members to workspaces. */
const program = new Command("signalbox rebuild-directory")
  .description("Rebuild the index of ids, tokens and members of all workspaces in a stopped service's store.")
  .requiredOption("--data <folder>", "the data folder of a service that is stopped");

try {
  const { data } = program.parse().opts<{ readonly data: string }>();
  // The settings do not affect which fields of a kind are hashed.
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const store = await openStoppedStore(data);
  const count = await rebuildDirectories(store, createDirectoryCatalogue(kinds));
  await store.close();
  console.log(`rebuilt the directory of ${data}: ${count} ${count === 1 ? "entry" : "entries"}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
