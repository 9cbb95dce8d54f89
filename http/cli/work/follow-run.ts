import { listAll, type Schema, type StreamMessage } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toLine, toLines } from "../command/printable.js";
import { type Approval, describeCall, listOpenApprovals } from "./approvals.js";
import { describeRunState } from "./run-state.js";
import { describeStep, listShown, type StepForm } from "./step-lines.js";

type Run = Schema<"Run">;
type Step = Schema<"Step">;

/**
 * Maximum length of the cached text of shown steps, in characters. The follower uses this text to skip the lines of a
 * failure's output that a step has already shown.
 */
const KEPT_CHARACTERS = 65_536;

/** The data of the topic `run/<id>`: its snapshot, or a change. */
interface RunData {
  readonly run?: Partial<Run>;
  readonly steps?: readonly StreamedStep[];
  readonly step?: StreamedStep;
  readonly approvals?: readonly Pick<Approval, "id" | "state">[];
  readonly approval?: Pick<Approval, "id" | "state">;
}

/** A step in a stream. The stream does not send a long text as a string; the API returns the text. */
type StreamedStep = Omit<Step, "text"> & { readonly text: unknown };

/** The callbacks of a {@link RunFollower}, and the form in which it shows steps. */
export interface RunFollowing extends StepForm {
  readonly say: (line: string) => void;
  /** Called with each approval that the run begins to wait for. */
  readonly onApproval?: (approval: Approval) => void;
  /** Called when the run no longer waits for the approval. */
  readonly onApprovalOver?: (approvalId: string) => void;
}

/** Shows the steps of a run as they happen, each step once. Also shows the run's approvals and how the run ends. */
export class RunFollower {
  readonly runId: string;
  readonly #context: Context;
  readonly #following: RunFollowing;
  readonly #approvals = new Set<string>();
  /** The index of the last step shown. */
  #shown = -1;
  #isOver = false;
  #failure: string | null = null;
  /** The latest shown lines of the steps, without indentation. */
  #printed = "";

  constructor(context: Context, runId: string, following: RunFollowing) {
    this.#context = context;
    this.runId = runId;
    this.#following = following;
  }

  /** Whether the run has ended and this follower has shown its end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Why the run failed; null if it did not fail, or if its end was not shown yet. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Shows the steps and changes that a message of the topic `run/<id>` contains. */
  async take({ kind, data }: StreamMessage): Promise<void> {
    const { run, steps = [], step, approvals = [], approval } = data as RunData;
    const first = steps[0];
    if (kind === "snapshot" && this.#shown === -1 && first !== undefined && first.index > 0) {
      this.#following.say(`(${first.index} earlier steps: signalbox run logs ${this.runId})`);
      this.#shown = first.index - 1;
    }
    for (const each of step === undefined ? steps : [...steps, step]) await this.#showStep(each);
    await this.#takeApprovals(approval === undefined ? approvals : [...approvals, approval]);
    if (run?.state === "ended") await this.catchUp();
  }

  /** Reads the run, and shows what no stream message has contained yet. */
  async catchUp(): Promise<void> {
    if (this.#isOver) return;
    await this.showSteps();
    const { client } = this.#context;
    const run = await client.get("/api/runs/{runId}", {
      path: { runId: this.runId },
      query: { diff: "false" },
    });
    if (run.state !== "ended") return;
    // Show the steps that arrived while the run was read.
    await this.showSteps();
    this.#isOver = true;
    this.#showEnd(run);
  }

  /** Reads and shows the steps after the last one shown. */
  async showSteps(): Promise<void> {
    const { client } = this.#context;
    const steps = listAll(client, "/api/runs/{runId}/steps", "after", {
      path: { runId: this.runId },
      query: { after: this.#shown, limit: 200 },
    });
    for await (const step of steps) this.#say(step);
  }

  async #showStep(step: StreamedStep): Promise<void> {
    if (step.index <= this.#shown) return;
    const { text } = step;
    if (step.index === this.#shown + 1 && typeof text === "string") this.#say({ ...step, text });
    else await this.showSteps();
  }

  #say(step: Step): void {
    this.#shown = Math.max(this.#shown, step.index);
    this.#printed = `${this.#printed}${listShown(step, this.#following).join("\n")}\n`.slice(-KEPT_CHARACTERS);
    for (const line of describeStep(this.#context, step, this.#following)) this.#following.say(line);
  }

  async #takeApprovals(changed: readonly Pick<Approval, "id" | "state">[]): Promise<void> {
    const isNew = ({ id, state }: Pick<Approval, "id" | "state">) => state === "open" && !this.#approvals.has(id);
    for (const { id, state } of changed) if (state !== "open") this.#following.onApprovalOver?.(id);
    if (!changed.some(isNew)) return;
    // Read the approvals, because the stream may shorten their inputs.
    for (const approval of (await listOpenApprovals(this.#context, this.runId)).toReversed().filter(isNew)) {
      this.#approvals.add(approval.id);
      const { terminal } = this.#context;
      const asks = terminal.paint("yellow", "asks for approval:");
      this.#following.say(`${asks} ${describeCall(approval)}`);
      this.#following.onApproval?.(approval);
    }
  }

  #showEnd(run: Run): void {
    const { terminal } = this.#context;
    const { say } = this.#following;
    const { station, outcome, ending, check, failure } = run;
    const colour = outcome === "completed" ? "green" : outcome === "failed" ? "red" : "yellow";
    this.#failure = failure?.message ?? null;
    const output = failure?.output ?? (check?.passed === false ? check.output : "");
    for (const line of this.#listNew(output)) say(terminal.paint("dim", `  ${line}`));
    say(terminal.paint(colour, `${station}: ${toLine(describeRunState(run))}`));
    if (ending?.kind === "handover" && ending.note !== "") say(`  ${toLines(ending.note).replaceAll("\n", "\n  ")}`);
  }

  /**
   * Returns the lines of a failure's output that no step has shown. Also skips the first line if a shown line ends with
   * it, because the output may begin in the middle of a line.
   */
  #listNew(output: string): readonly string[] {
    const printed = this.#printed.split("\n");
    const known = new Set(printed);
    return toLines(output)
      .split("\n")
      .filter((line, index) => {
        if (line.trim() === "" || known.has(line)) return false;
        return index > 0 || !printed.some((shown) => shown.endsWith(line));
      });
  }
}
