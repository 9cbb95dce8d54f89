import type { RunStep } from "../runners/protocol.js";
import type { ToolCall } from "../runners/tool-call.js";

/** The calls of a run to one MCP server. Refused calls, which were not made, do not count. */
export interface ServerCalls {
  readonly server: string;
  readonly calls: number;
  readonly failed: number;
  readonly lastFailed: boolean;
}

/** A tool that a run was refused, once or more often. */
export interface RefusedTool {
  /** Null for a tool of no server. */
  readonly server: string | null;
  readonly tool: string;
  readonly by: NonNullable<ToolCall["refusedBy"]>;
}

/** What the steps of a run say of servers, tools and skills, each in the order of its first step. */
export interface CallTally {
  readonly servers: readonly ServerCalls[];
  readonly refused: readonly RefusedTool[];
  /** Steps about calls that were refused; absent for none. */
  readonly misses?: number;
  /** Keys of the skills that the agent read. */
  readonly skillsRead: readonly string[];
}

/** Most servers, refused tools and skills of a run that are told apart; later ones are left out. */
export const MAX_TALLIED = 50;

const nothing: CallTally = { servers: [], refused: [], skillsRead: [] };

/** The tally after a step; the same one when the step says nothing of calls and skills. */
export function tallyStep(
  before: CallTally | undefined,
  { call, skill }: Pick<RunStep, "call" | "skill">,
): CallTally | undefined {
  const called = call === undefined ? before : tallyCall(before, call);
  if (skill === undefined || called?.skillsRead.includes(skill)) return called;
  const { skillsRead } = called ?? nothing;
  return { ...(called ?? nothing), skillsRead: withOne(skillsRead, skill) };
}

/** The tally after a tool was refused. */
export function tallyRefusal(before: CallTally = nothing, refused: RefusedTool): CallTally {
  const { server, tool, by } = refused;
  const isKnown = before.refused.some((one) => one.server === server && one.tool === tool && one.by === by);
  return isKnown ? before : { ...before, refused: withOne(before.refused, { server, tool, by }) };
}

/** The tally after a call. */
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
