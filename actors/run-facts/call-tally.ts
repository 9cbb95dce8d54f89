import type { RunStep } from "../runners/protocol.js";
import type { ToolCall } from "../runners/tool-call.js";

/** The calls of a run to one MCP server. Refused calls do not count, because the server did not get them. */
export interface ServerCalls {
  readonly server: string;
  readonly calls: number;
  readonly failed: number;
  readonly lastFailed: boolean;
}

/** A tool whose calls were refused in a run, at least once. */
export interface RefusedTool {
  /** The server's name; null for a tool without a server. */
  readonly server: string | null;
  readonly tool: string;
  readonly by: NonNullable<ToolCall["refusedBy"]>;
}

/**
 * The servers, tools and skills in the steps of a run. Each list is in the order in which its entries first occurred.
 */
export interface CallTally {
  readonly servers: readonly ServerCalls[];
  readonly refused: readonly RefusedTool[];
  /**
   * Number of refused calls; absent for none. In a replay, a refusal that repeats a recorded refusal does not count.
   */
  readonly misses?: number;
  /** Keys of the skills that the agent read. */
  readonly skillsRead: readonly string[];
}

/** Maximum number of servers, of refused tools and of skills in a tally. Later names are left out. */
export const MAX_TALLIED = 50;

const nothing: CallTally = { servers: [], refused: [], skillsRead: [] };

/** Updates the tally for a step. A step without a call and without a new skill leaves the tally unchanged. */
export function tallyStep(
  before: CallTally | undefined,
  { call, skill }: Pick<RunStep, "call" | "skill">,
): CallTally | undefined {
  const called = call === undefined ? before : tallyCall(before, call);
  if (skill === undefined || called?.skillsRead.includes(skill)) return called;
  const { skillsRead } = called ?? nothing;
  return { ...(called ?? nothing), skillsRead: withOne(skillsRead, skill) };
}

/** Adds a refused tool to the tally, at most once. Does not change `misses`. */
export function tallyRefusal(before: CallTally = nothing, refused: RefusedTool): CallTally {
  const { server, tool, by } = refused;
  const isKnown = before.refused.some((one) => one.server === server && one.tool === tool && one.by === by);
  return isKnown ? before : { ...before, refused: withOne(before.refused, { server, tool, by }) };
}

/** Updates the tally for a call. A refused call increases `misses`. */
export function tallyCall(
  before: CallTally | undefined,
  { server, tool, failed, refusedBy }: ToolCall,
): CallTally | undefined {
  if (refusedBy !== null) {
    const refused = tallyRefusal(before, { server, tool, by: refusedBy });
    return { ...refused, misses: (refused.misses ?? 0) + 1 };
  }
  if (server === null) return before;
  const { servers } = before ?? nothing;
  const count = (one: ServerCalls | undefined): ServerCalls => ({
    server,
    calls: (one?.calls ?? 0) + 1,
    failed: (one?.failed ?? 0) + (failed ? 1 : 0),
    lastFailed: failed,
  });
  const isKnown = servers.some((one) => one.server === server);
  const counted = isKnown
    ? servers.map((one) => (one.server === server ? count(one) : one))
    : withOne(servers, count(undefined));
  return { ...(before ?? nothing), servers: counted };
}

function withOne<One>(list: readonly One[], one: One): readonly One[] {
  return list.length < MAX_TALLIED ? [...list, one] : list;
}
