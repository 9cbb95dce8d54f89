import { writeJson } from "../../../actors/exact-json.js";
import type { RunnerMessage, ServiceMessage } from "../../../actors/runners/protocol.js";
import { ToolCalls } from "../tools/tool-calls.js";
import { Handovers } from "./handovers.js";
import { maskedWithin } from "./mask.js";
import { Messages } from "./messages.js";
import { Permissions } from "./permissions.js";

/** Messages from the service to an agent, including answers to the agent's requests. */
export type MessageToAgent = Extract<
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
  /** Masks the run's secrets in a text. */
  readonly mask: (text: string) => string;
  readonly send: (message: RunnerMessage) => void;
  /**
   * Called with true when tool calls start to wait for a person, and with false when no tool call waits for a person
   * any more.
   */
  readonly paused: (isPaused: boolean) => void;
}

/** The agent's requests to the service in one run, the answers to them, and people's messages to the agent. */
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

  take(message: MessageToAgent): void {
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

  /**
   * Rejects all handovers and tool calls that are open, and all that are requested later. Call it when the run is
   * ending.
   */
  close(): void {
    this.handovers.close();
    this.calls.close();
  }
}
