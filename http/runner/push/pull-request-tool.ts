import { z } from "zod";
import { MAX_BODY_CHARACTERS, MAX_TITLE_CHARACTERS } from "../../../actors/runners/push.js";
import type { Clock } from "../../../runtime/clock.js";
import { ANSWER_WITHIN_MS, PROGRESS_EVERY_MS, type ToolRequest } from "../tools/await-call.js";
import type { ServedTool } from "../tools/mcp-server.js";
import type { ToolResult } from "../tools/tool-calls.js";
import type { Pushes } from "./pushes.js";

const inputsSchema = z.strictObject({
  title: z.string().min(1).max(MAX_TITLE_CHARACTERS),
  body: z.string().max(MAX_BODY_CHARACTERS).default(""),
  repository: z.string().max(200).nullable().default(null),
});

const NAME = "open_pull_request";

const DESCRIPTION = `Opens a pull request with everything changed in the checkout so far, or adds it to the task's pull
request if there is one. Commit and push nothing yourself. What is refused is told; you may change it and ask again.`;

/** JSON Schema of {@link inputsSchema}. */
const SCHEMA = {
  type: "object",
  properties: {
    title: { type: "string", description: "What it does, in a line", minLength: 1, maxLength: MAX_TITLE_CHARACTERS },
    body: { type: "string", description: "What reviewers should know", maxLength: MAX_BODY_CHARACTERS },
    repository: { type: "string", description: "owner/name; needed where the run has several" },
  },
  required: ["title"],
  additionalProperties: false,
};

const GIVEN_UP: ToolResult = { text: "The request was given up.", isError: true };
const UNDER_WAY = "The pull request is being opened.";
const AGAIN = `${UNDER_WAY} Call again with the same inputs: that opens no second one, and gives the result of this.`;

/**
 * The tool with which an agent opens a pull request while it works. A call with the same inputs as an open call waits
 * for the result of that call. A client without progress support gets an answer before its timeout.
 */
export function pullRequestTool(pushes: Pushes, clock: Clock): ServedTool {
  const underWay = new Map<string, Promise<ToolResult>>();
  const ask = (inputs: z.output<typeof inputsSchema>): Promise<ToolResult> =>
    pushes
      .wish(inputs)
      .then((result) =>
        "url" in result ? { text: result.url, isError: false } : { text: result.refused, isError: true },
      );
  return {
    name: NAME,
    description: DESCRIPTION.replaceAll("\n", " "),
    schema: SCHEMA,
    call: async (given, request) => {
      const parsed = inputsSchema.safeParse(given);
      if (!parsed.success) return { text: z.prettifyError(parsed.error), isError: true };
      const key = JSON.stringify(parsed.data);
      const asked = underWay.get(key) ?? ask(parsed.data);
      underWay.set(key, asked);
      const result = await awaited(asked, { ...request, clock });
      if (result === null) return request.signal.aborted ? GIVEN_UP : { text: AGAIN, isError: false };
      underWay.delete(key);
      return result;
    },
  };
}

/** Resolves with the result, or with null if the client aborts, or has no progress support and needs an answer now. */
function awaited(
  asked: Promise<ToolResult>,
  { signal, progress, clock }: ToolRequest & { readonly clock: Clock },
): Promise<ToolResult | null> {
  return new Promise((resolve) => {
    let cancel: () => void = () => undefined;
    const end = (result: ToolResult | null) => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      resolve(result);
    };
    const giveUp = () => end(null);
    const beat = () => {
      cancel = clock.at(clock.now() + PROGRESS_EVERY_MS, () => {
        progress?.(UNDER_WAY);
        beat();
      });
    };
    if (signal.aborted) return end(null);
    signal.addEventListener("abort", giveUp, { once: true });
    if (progress === null) cancel = clock.at(clock.now() + ANSWER_WITHIN_MS, giveUp);
    else beat();
    void asked.then(end);
    return undefined;
  });
}
