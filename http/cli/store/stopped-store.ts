import type { Store } from "../../../storage/store.js";
import { openStore } from "../../process/open-store.js";

/** Opens and migrates the store of a stopped service. Never creates a store. */
export function openStoppedStore(folder: string): Promise<Store> {
  return openStore({ folder, mustExist: true, log: { info: (line) => console.error(line) }, nowMs: Date.now });
}
