import type { Store } from "../../../storage/store.js";
import { openStore } from "../../process/open-store.js";
import type { CommonOptions } from "../command/context.js";
import type { Terminal } from "../command/terminal.js";

/** The options of a program that only takes a stopped service's data folder. */
export interface StoppedOptions extends CommonOptions {
  readonly data: string;
}

/** Opens and migrates the store of a stopped service. Never creates a store. */
export function openStoppedStore({ note }: Pick<Terminal, "note">, folder: string): Promise<Store> {
  return openStore({ folder, mustExist: true, log: { info: note }, nowMs: Date.now });
}
