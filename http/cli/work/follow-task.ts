import { ApiError, type Schema, type StreamMessage } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes, isInterruption } from "../command/exit-codes.js";
import { orNull } from "../command/names.js";
import { toLine, toLines } from "../command/printable.js";
import { openTopics, type Topics } from "../command/topics.js";
import { RunFollower } from "./follow-run.js";
import { describeNote } from "./note-lines.js";
import { People } from "./people.js";
import { TaskPrompts } from "./task-prompts.js";

type Task = Schema<"Task">;

/** A change of the topic `task/<id>`. The stream does not send a long text as a string; the API returns the text. */
type TaskChange =
  | { readonly type: "task"; readonly task: Partial<Task> }
  | { readonly type: "note"; readonly note: Omit<Task["notes"][number], "text"> & { readonly text: unknown } };

/**
 * Shows what happens to a task until it is done or closed: steps, questions and reviews. If the agent asks, the person
 * types the answer; without a terminal, shows the question and continues. Returns the exit code, which is `failed` if
 * the task was closed.
 *
 * Throws a {@link CommandError} if the task failed and is not retried. After an interruption, throws a {@link
 * CommandError} that names the command to continue with.
 */
export async function followTask(context: Context, task: Task): Promise<ExitCode> {
  const people = await People.ofTeam(context, task.teamId);
  const me = context.login.token === undefined ? (await context.client.get("/api/sessions/me")).userId : null;
  const prompts = new TaskPrompts(context, { people, me });
  const topics = openTopics(context, { onLost: () => prompts.pause(), onConnected: () => prompts.resume() });
  try {
    return await new TaskFollower(context, topics, { task, people, prompts }).follow();
  } catch (error) {
    const isEnded = error instanceof CommandError && error.exitCode === exitCodes.interrupted;
    if (!isEnded && !isInterruption(error, context.signal)) throw error;
    const next = prompts.later ?? `the task continues: signalbox task show ${task.id} --follow`;
    throw new CommandError(next, exitCodes.interrupted);
  } finally {
    prompts.close();
    topics.close();
  }
}

interface Following {
  readonly task: Task;
  readonly people: People;
  readonly prompts: TaskPrompts;
}

class TaskFollower {
  readonly #context: Context;
  readonly #topics: Topics;
  readonly #prompts: TaskPrompts;
  readonly #people: People;
  #task: Task;
  #run: RunFollower | null = null;
  /** The number of the last note shown. */
  #noted: number;
  /** The task's state when it was last shown. */
  #shown = "";

  constructor(context: Context, topics: Topics, { task, people, prompts }: Following) {
    this.#context = context;
    this.#topics = topics;
    this.#prompts = prompts;
    this.#people = people;
    this.#task = task;
    this.#noted = task.notes.at(-1)?.seq ?? -1;
  }

  async follow(): Promise<ExitCode> {
    this.#topics.subscribe(`task/${this.#task.id}`);
    await this.#showState();
    while (this.#task.state !== "done" && this.#task.state !== "closed") {
      await this.#take(await Promise.race([this.#topics.next(), this.#prompts.failed]));
    }
    return this.#task.state === "done" ? exitCodes.done : exitCodes.failed;
  }

  readonly #say = (line: string): void => {
    const { terminal, isJson } = this.#context;
    if (isJson) terminal.note(line);
    else terminal.print(line);
  };

  async #take(message: StreamMessage): Promise<void> {
    const { topic, kind, data } = message;
    if (topic === `run/${this.#run?.runId}`) {
      if (kind === "error") this.#context.terminal.note("you may not read the steps of this run");
      else await this.#run?.take(message);
      return;
    }
    if (topic !== `task/${this.#task.id}`) return;
    if (kind === "error") throw new CommandError(toLine(String((data as { message?: unknown }).message)));
    if (kind === "change") await this.#takeChange(data as TaskChange);
    else await this.#update(data as Task);
  }

  async #takeChange(change: TaskChange): Promise<void> {
    if (change.type === "note") {
      const { text, ...note } = change.note;
      if (typeof text === "string") this.#showNotes([{ ...note, text }]);
      else this.#showNotes((await this.#read()).notes);
    } else if (change.type === "task") {
      const task = { ...this.#task, ...change.task };
      await this.#update(typeof task.asks === "object" && task.asks !== null ? await this.#read() : task);
    }
  }

  async #read(): Promise<Task> {
    const { client } = this.#context;
    return await client.get("/api/tasks/{taskId}", { path: { taskId: this.#task.id } });
  }

  async #update(task: Task): Promise<void> {
    this.#task = task;
    this.#showNotes(task.notes);
    await this.#showState();
  }

  /** Shows new notes. Skips the notes of stations, because they are shown at the end of the run. */
  #showNotes(notes: Task["notes"]): void {
    for (const note of notes.filter(({ seq }) => seq > this.#noted)) {
      this.#noted = note.seq;
      if (note.from.startsWith("station ")) continue;
      for (const line of describeNote(this.#context, note, this.#people)) this.#say(line);
    }
  }

  /** Shows what the task does now, unless this was already shown. */
  async #showState(): Promise<void> {
    const { state, station, runId, approvals } = this.#task;
    const now = [state, station, runId, approvals.length === 0].join(" ");
    if (now === this.#shown) return;
    this.#shown = now;
    this.#prompts.removeQuestion();
    if (runId !== this.#run?.runId) await this.#followRun(runId);
    const waitsForApproval = state === "inbox" && approvals.length > 0;
    if (state !== "queued" && state !== "running" && !waitsForApproval) await this.#run?.catchUp();
    if (state === "queued") this.#say(this.#dim(`${station}: queued${await this.#whyWaiting()}`));
    if (state === "running") this.#say(this.#dim(`${station}: running`));
    if (state === "inbox" && !waitsForApproval) await this.#showWait();
    if (state === "done") this.#showDone();
    if (state === "closed") this.#say("closed");
  }

  async #followRun(runId: string | null): Promise<void> {
    if (this.#run !== null) {
      await this.#run.catchUp();
      this.#topics.unsubscribe(`run/${this.#run.runId}`);
    }
    if (runId === null) return;
    this.#run = new RunFollower(this.#context, runId, {
      people: this.#people,
      isShort: true,
      say: this.#say,
      onApproval: (approval) => this.#prompts.askApproval(approval),
      onApprovalOver: (id) => this.#prompts.removeApproval(id),
    });
    this.#topics.subscribe(`run/${runId}`);
  }

  /** Returns the reason why no runner has claimed the run, after a colon; empty if the reason is not known. */
  async #whyWaiting(): Promise<string> {
    const { client } = this.#context;
    const { runId } = this.#task;
    if (runId === null) return "";
    try {
      const run = await client.get("/api/runs/{runId}", { path: { runId }, query: { diff: "false" } });
      return run.waiting === null ? "" : `: ${toLine(run.waiting.reason)}`;
    } catch (error) {
      if (error instanceof ApiError) return "";
      throw error;
    }
  }

  /** Shows why the task waits for a person, and asks for the answer. */
  async #showWait(): Promise<void> {
    const { client, terminal } = this.#context;
    const { id, station, asks } = this.#task;
    const item = await orNull(client.get("/api/inbox/{id}", { path: { id } }));
    const waits = item === null || item.gone === null;
    const kind = item !== null && waits ? item.kind : this.#task.failure === null ? "question" : "failure";
    const does = kind === "failure" ? "failed" : "asks";
    const text = asks ?? item?.asks ?? "";
    // Do not show again why the task failed if the end of the run has shown it.
    if (kind !== "failure" || text !== this.#run?.failure) {
      this.#say(`${terminal.paint("yellow", `${station} ${does}:`)} ${toLines(text)}`);
    }
    // Ask nothing if somebody has answered in the meantime.
    if (!waits) return;
    if (kind === "failure") this.#prompts.askForRetry(this.#task);
    else this.#prompts.askForAnswer(this.#task);
  }

  #showDone(): void {
    const { terminal, isJson } = this.#context;
    const { pullRequest, reviews } = this.#task;
    this.#say(terminal.paint("green", pullRequest === null ? "done" : `done: ${toLine(pullRequest.url)}`));
    if (!isJson && reviews === undefined)
      terminal.note("signalbox run diff shows the changes, with --apply it applies them");
  }

  #dim(text: string): string {
    return this.#context.terminal.paint("dim", text);
  }
}
