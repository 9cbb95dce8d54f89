import { writeJson } from "../../../actors/exact-json.js";
import type { RunnerMessage, ServiceMessage } from "../../../actors/runners/protocol.js";
import { ToolCalls } from "../tools/tool-calls.js";
import { Handovers } from "./handovers.js";
import { maskedWithin } from "./mask.js";
import { Messages } from "./messages.js";
import { Permissions } from "./permissions.js";

/** The messages of the service to an agent, or in answer to it. */
export type SaidToAgent = Extract<
  ServiceMessage,
  {
    type:
      | "run.handover-answered"
      | "run.permission-answered"
      | "run.message"
      | "run.tool-waiting"
      | "run.tool-answered";
  }
>;

export interface DialogueOptions {
  readonly claim: { readonly runId: string; readonly fence: number };
  /** Takes the run's secrets out of a text. */
  readonly mask: (text: string) => string;
  readonly send: (message: RunnerMessage) => void;
  /** Told when calls of tools begin to wait for a person, and when none does any more. */
  readonly paused: (isPaused: boolean) => void;
}

/** What one run's agent asks the service, what it is answered, and what people say to it. */
export class Dialogue {
  readonly handovers: Handovers;
  readonly permissions: Permissions;
  readonly messages: Messages;
  readonly calls: ToolCalls;

  constructor({ claim, mask, send, paused }: DialogueOptions) {
    const prefix = `${claim.fence}`;
    this.handovers = new Handovers(prefix, (id, { to, note }) =>
      send({ type: "run.handover", ...claim, id, to, note: mask(note) }),
    );
    this.permissions = new Permissions(prefix, (id, wish) => {
      const inputs = writeJson(maskedWithin(wish.inputs, mask));
      const [tool, reason] = [mask(wish.tool), mask(wish.reason)];
      send({ type: "run.permission", ...claim, id, tool, inputs, reason });
    });
    this.messages = new Messages((n) => send({ type: "run.heard", ...claim, n }));
    this.calls = new ToolCalls({ prefix, paused, send: (message) => send({ ...message, ...claim }) });
  }

  take(message: SaidToAgent): void {
    switch (message.type) {
      case "run.handover-answered":
        return this.handovers.answer(message.id, message.refused);
      case "run.permission-answered":
        return this.permissions.answer(message);
      case "run.message":
        return this.messages.take(message);
      case "run.tool-waiting":
        return this.calls.waiting(message);
      case "run.tool-answered":
        return this.calls.answered(message);
    }
  }

  /** The run is being ended: nothing may be asked any more. */
  close(): void {
    this.handovers.close();
    this.calls.close();
  }
}
