import type { Job, RunStep, Spent } from "../../../actors/runners/protocol.js";
import type { Halt } from "../process/halt.js";
import type { ProcessGroup } from "../process/process-group.js";
import type { Give } from "./messages.js";
import type { PermissionAnswer, PermissionWish } from "./permissions.js";

/** What a harness is given for one run, and where it reports. */
export interface HarnessRun {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The mark of what the run starts. */
  readonly mark: string;
  /** Says when the agent must end. */
  readonly halt: Halt;
  /** Told of the agent's process before anything else. */
  readonly started: (group: ProcessGroup) => Promise<void>;
  /** Resolves when the next step may come. */
  readonly step: (step: Omit<RunStep, "index" | "spent">) => Promise<void>;
  readonly cost: (spent: Spent) => Promise<void>;
  /** Null when the handover is given, else why not. */
  readonly handover: (to: string, note: string) => Promise<string | null>;
  readonly ask: (question: string) => void;
  /** Resolves when the agent may say more; whether it may make the call, `answered` is told later, or never. */
  readonly permission: (wish: PermissionWish, answered: (answer: PermissionAnswer) => void) => Promise<void>;
  /** The agent takes what people say to it from now on, in order. */
  readonly listen: (give: Give) => void;
}

/** How the agent ended. */
export interface AgentResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** The end of what it printed. */
  readonly output: string;
}

/** How a runner starts an agent. Adapters for particular agents stand behind this. */
export interface Harness {
  readonly name: string;
  /** Rejects with {@link HarnessNotFound} when there is no such program here. */
  run(job: Job, run: HarnessRun): Promise<AgentResult>;
}

export class HarnessNotFound extends Error {
  override readonly name = "HarnessNotFound";
}
