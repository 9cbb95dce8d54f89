import { compactStoppedStore } from "../../process/open-store.js";
import type { Context } from "../command/context.js";
import type { StoppedOptions } from "./stopped-store.js";
import { onStore } from "./store-errors.js";

/** Shrinks the store file of a stopped service. */
export async function compact(context: Context, { data }: StoppedOptions): Promise<void> {
  const { beforeBytes, afterBytes, entries } = await onStore(() => compactStoppedStore(data));
  context.show({ data, beforeBytes, afterBytes, entries }, () => [
    `compacted ${data}: ${beforeBytes} bytes before, ${afterBytes} after; all ${entries} entries are intact`,
  ]);
}
