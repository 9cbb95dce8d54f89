import type { Store } from "../../storage/store.js";
import type { Deliverer } from "./hook-events.js";
import { openAlike, openLeast } from "./hook-references.js";
import { openServed, withExpressions } from "./hook-service.js";

/** Number of workspaces that share the events in the spread row. */
const SPREAD = 64;

/** A way to deliver events: one row of the table. */
export interface HookSide {
  readonly name: string;
  open(store: Store, url: string): Deliverer | Promise<Deliverer>;
}

export const least: HookSide = { name: "LMDB and undici alone, the least", open: openLeast };
export const alike: HookSide = { name: "LMDB and undici alone, the same request and rows", open: openAlike };
export const plain: HookSide = {
  name: "Signalbox, one workspace",
  open: (store, url) => openServed(store, url, { workspaces: 1 }),
};
const spread: HookSide = {
  name: `Signalbox, spread over ${SPREAD} workspaces`,
  open: (store, url) => openServed(store, url, { workspaces: SPREAD }),
};
export const written: HookSide = {
  name: "Signalbox, one workspace, a condition and a written body on the hook",
  open: (store, url) => openServed(store, url, { workspaces: 1, extras: withExpressions }),
};

/** All sides, in the order of the table's rows. */
export const hookSides: readonly HookSide[] = [least, alike, plain, spread, written];
