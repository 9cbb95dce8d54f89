import type { Report, Turn } from "../../runtime/turns/turn.js";

const lines = {
  joined: { level: "info", message: "runner joined" },
  returned: { level: "info", message: "runner reconnected" },
  disconnected: { level: "warn", message: "runner disconnected" },
  lost: { level: "warn", message: "runner lost" },
} as const satisfies Record<string, Report["line"]>;

/**
 * Reports what happened to the runner of this turn. `claims` is the number of runs that the runner holds or has lost.
 */
export function reportRunner(
  turn: Turn,
  happened: keyof typeof lines,
  { poolId, claims }: { readonly poolId: string; readonly claims: Readonly<Record<string, unknown>> },
): void {
  const details = { runnerId: turn.self.id, poolId, claims: Object.keys(claims).length };
  turn.report({ name: `runner.${happened}`, line: lines[happened], details });
}
