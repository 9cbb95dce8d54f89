import type { Job } from "../../../actors/runners/job.js";
import type { RunStep, Spent } from "../../../actors/runners/protocol.js";
import type { Halt } from "../process/halt.js";
import type { ProcessGroup } from "../process/process-group.js";
import type { ServiceAnswer, SubmissionType } from "../search/search-client.js";
import type { Give } from "./messages.js";
import type { PermissionAnswer, PermissionWish } from "./permissions.js";

/** The inputs of a harness for one run, and the callbacks for its reports. */
export interface HarnessRun {
  readonly cwd: string;
  /**
   * The environment of the agent. `SIGNALBOX_MCP_CONFIG` in it is the path of the file that lists the MCP servers of
   * the run's tools. An adapter passes this file to its agent.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The prefix of the marks of all processes that the run starts. */
  readonly mark: string;
  /** Signals when the agent must end. */
  readonly halt: Halt;
  /** Called with the agent's process before any other callback. */
  readonly started: (group: ProcessGroup) => Promise<void>;
  /** Reports a step. Resolves when the next step may be reported (back-pressure). */
  readonly step: (step: Omit<RunStep, "index" | "spent">) => Promise<void>;
  /** `model` is the model that the cost is for; null if the agent does not name one. */
  readonly cost: (spent: Spent, model: string | null) => Promise<void>;
  /** Resolves with null if the service accepts the handover, otherwise with the reason. */
  readonly handover: (to: string, note: string) => Promise<string | null>;
  readonly ask: (question: string) => void;
  /**
   * Requests permission for a call. Resolves when the agent's next line may be read. Calls `answered` later with the
   * answer, or never.
   */
  readonly permission: (wish: PermissionWish, answered: (answer: PermissionAnswer) => void) => Promise<void>;
  /** Sends a message from a search's agent to the service, and resolves with the answer. Null in other runs. */
  readonly say: ((type: SubmissionType, value: object) => Promise<ServiceAnswer>) | null;
  /** Passes people's messages to `give` from now on, in order. */
  readonly listen: (give: Give) => void;
}

/** How the agent ended. */
export interface AgentResult {
  /** Null if a signal ended the agent. */
  readonly exitCode: number | null;
  /** The end of the agent's output. */
  readonly output: string;
}

/** Starts and controls an agent program. Each harness is an adapter for one kind of agent. */
export interface Harness {
  readonly name: string;
  /** Rejects with {@link HarnessNotFound} if the program cannot start on this machine. */
  run(job: Job, run: HarnessRun): Promise<AgentResult>;
}

export class HarnessNotFound extends Error {
  override readonly name = "HarnessNotFound";
}
