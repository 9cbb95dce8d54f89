import { createDirectoryCatalogue, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { rebuildDirectories } from "../../../runtime/directories/rebuild-directories.js";
import type { Context } from "../command/context.js";
import { openStoppedStore, type StoppedOptions } from "./stopped-store.js";
import { onStore } from "./store-errors.js";

/** Rebuilds the directories that map ids, tokens and members to workspaces. */
export async function rebuildDirectory(context: Context, { data }: StoppedOptions): Promise<void> {
  const entries = await onStore(async () => {
    // Use default settings, because settings do not affect which fields of a kind are hashed.
    const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
    const store = await openStoppedStore(context.terminal, data);
    const count = await rebuildDirectories(store, createDirectoryCatalogue(kinds));
    await store.close();
    return count;
  });
  context.show({ data, entries }, () => [
    `rebuilt the directory of ${data}: ${entries} ${entries === 1 ? "entry" : "entries"}`,
  ]);
}
