import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { type Approval, answerApproval } from "./approvals.js";
import type { People } from "./people.js";
import { Prompts } from "./prompts.js";

type Waiting = Pick<Schema<"Task">, "id" | "assignee">;

/** The id of the prompt for the task's own question or failure. */
const QUESTION = "question";

/** The people of the workspace, and the person who is at the terminal. */
interface Asked {
  readonly people: People;
  /** The id of the person at the terminal; null for a token. */
  readonly me: string | null;
}

/**
 * Asks the person who follows a task for the decision that the task waits for. Without a terminal, says how to send the
 * decision.
 */
export class TaskPrompts {
  readonly #context: Context;
  readonly #prompts: Prompts;
  readonly #people: People;
  readonly #me: string | null;

  constructor(context: Context, { people, me }: Asked) {
    this.#context = context;
    this.#prompts = new Prompts(context);
    this.#people = people;
    this.#me = me;
  }

  /** Rejects when the person ends the input, or declines to retry a failed task. */
  get failed(): Promise<never> {
    return this.#prompts.failed;
  }

  /** How to answer the open question later; null if there is none. */
  get later(): string | null {
    return this.#prompts.later;
  }

  /** Withdraws the open question while no answer can be sent. */
  pause(): void {
    this.#prompts.pause();
  }

  resume(): void {
    this.#prompts.resume();
  }

  removeQuestion(): void {
    this.#prompts.remove(QUESTION);
  }

  removeApproval(id: string): void {
    this.#prompts.remove(id);
  }

  /** Removes all prompts. */
  close(): void {
    this.#prompts.close();
  }

  /** Asks for the answer to the task's question, or says who may answer. */
  askForAnswer(task: Waiting): void {
    const { client, terminal } = this.#context;
    const { id, assignee } = task;
    if (terminal.ask === null || !this.#isMe(assignee)) {
      return terminal.note(
        this.#isMe(assignee) ? `answer it with: signalbox task answer "…" --task ${id}` : this.#whoAnswers(assignee),
      );
    }
    const answer = async (text: string): Promise<void> => {
      if (text === "") this.askForAnswer(task);
      else await client.post("/api/tasks/{taskId}/answer", { path: { taskId: id }, body: { text } });
    };
    const later = 'the task waits for an answer: signalbox task answer "…"';
    this.#prompts.add({ id: QUESTION, question: "Answer:", later, answer });
  }

  /**
   * Asks whether to run the station of a failed task again. Without a terminal, throws an error that says what to do.
   */
  askForRetry({ id: taskId }: Waiting): void {
    const { client, terminal } = this.#context;
    const path = { taskId };
    const later = "the task failed and is in the inbox: run signalbox task retry, or answer, move or close it";
    const giveUp = (): never => {
      throw new CommandError(later);
    };
    if (terminal.ask === null) giveUp();
    const answer = async (text: string): Promise<void> => {
      if (!/^y(es)?$/i.test(text)) giveUp();
      await client.post("/api/tasks/{taskId}/retry", { path, body: {} });
    };
    this.#prompts.add({ id: QUESTION, question: "Run the station again? [y/N]", later, answer });
  }

  /** Asks whether to approve a call, or says who may approve it. */
  askApproval(approval: Approval): void {
    const { terminal } = this.#context;
    const { id, approver } = approval;
    if (terminal.ask === null || !this.#isMe(approver)) {
      return terminal.note(
        this.#isMe(approver)
          ? `answer it with: signalbox run approve ${id}, or run dismiss ${id}`
          : this.#whoAnswers(approver),
      );
    }
    const answer = async (text: string): Promise<void> => {
      if (text === "") return terminal.note(`not answered: approve it later with signalbox run approve ${id}`);
      if (/^y(es)?$/i.test(text)) await answerApproval(this.#context, approval, { kind: "approve" });
      else {
        const reason = /^no?$/i.test(text) ? null : text;
        await answerApproval(this.#context, approval, { kind: "dismiss", reason });
      }
    };
    const question = "Approve this call? [y, n, or a reason to deny it]:";
    const later = `the call waits for an approval: signalbox run approve ${id}, or run dismiss ${id}`;
    this.#prompts.add({ id, question, later, answer });
  }

  #whoAnswers(userId: string | null): string {
    const name = this.#people.name(userId);
    return name === null ? "unassigned: signalbox task assign me" : `waiting for ${name}`;
  }

  #isMe(userId: string | null): boolean {
    return userId !== null && userId === this.#me;
  }
}
