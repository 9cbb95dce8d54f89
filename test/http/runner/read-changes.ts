import { dirname } from "node:path";
import type { Checkout } from "../../../http/runner/checkout/checkout.js";
import {
  openPushSite,
  type PushSite,
  type Snapshot,
  type SnapshotOptions,
  takeSnapshot,
} from "../../../http/runner/push/push-site.js";

const sites = new WeakMap<Checkout, Promise<PushSite>>();
const { signal } = new AbortController();

/** Returns a checkout's current content, as a runner reads it. */
export async function readSnapshot(checkout: Checkout, more: Partial<SnapshotOptions> = {}): Promise<Snapshot> {
  const folder = { path: dirname(checkout.folder), pushSite: () => `${checkout.record}.site` };
  const site = sites.get(checkout) ?? openPushSite(checkout, folder, signal);
  sites.set(checkout, site);
  return takeSnapshot(await site, { signal, ...more });
}

export async function readChanges(checkout: Checkout): Promise<string> {
  return (await readSnapshot(checkout)).diff;
}

/** Returns what the diff leaves out, as `path: why`. */
export function toLeftOut({ leftOut }: Pick<Snapshot, "leftOut">): string[] {
  return leftOut.map(({ path, why }) => `${Buffer.from(path, "latin1")}: ${why}`);
}
