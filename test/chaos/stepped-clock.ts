import { openSync, readSync } from "node:fs";

/**
 * Replaces the service's wall clock. Node loads this file before the service (`node --import`). The clock shows the
 * machine's time plus the milliseconds in the eight-byte file that `CHAOS_CLOCK` names. Timers and `performance` are
 * unaffected, as when a machine's clock is set.
 */
const file = openSync(process.env.CHAOS_CLOCK ?? "", "r");
const bytes = new Float64Array(1);
const wallMs = Date.now;

const now = (): number => {
  readSync(file, bytes, 0, bytes.byteLength, 0);
  return wallMs() + (bytes[0] ?? 0);
};

Date.now = now;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
});
