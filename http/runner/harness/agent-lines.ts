import { z } from "zod";
import { readJson } from "../../../actors/exact-json.js";
import { MAX_AMOUNT } from "../../../actors/money.js";
import { type CallInputs, inputsSchema } from "../../../actors/runners/call-inputs.js";
import {
  MAX_REASON_CHARACTERS,
  MAX_STEP_CHARACTERS,
  modelName,
  spentSchema,
} from "../../../actors/runners/protocol.js";
import { calledName, refuser } from "../../../actors/runners/tool-call.js";
import { parseBy } from "../../wire/field-errors.js";

/** Text without control characters. */
const SHOWABLE = /^\P{Cc}*$/u;
const NOT_SHOWABLE = "must hold no control characters";

/** A tool call in a step, as the agent reports it. */
const callSchema = z.object({
  server: calledName.nullable().default(null),
  tool: calledName,
  failed: z.boolean().default(false),
  refusedBy: refuser.nullable().default(null),
});

/**
 * The messages on an agent's standard output, one JSON object per line. A line of any other type becomes an output
 * step.
 */
const agentLineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("step"),
    kind: z.enum(["message", "tool", "output", "thought", "error"]).default("message"),
    text: z.string(),
    tool: z.string().max(255).regex(SHOWABLE, NOT_SHOWABLE).nullable().default(null),
    call: callSchema.optional(),
    skill: calledName.optional(),
  }),
  z.object({
    type: z.literal("cost"),
    amount: spentSchema.shape.amount.max(MAX_AMOUNT, `must be at most ${MAX_AMOUNT}`),
    currency: z.string().regex(/^[A-Z]{3}$/, "must be three capital letters, as in ISO 4217"),
    model: z.string().regex(SHOWABLE, NOT_SHOWABLE).pipe(modelName).optional(),
  }),
  z.object({ type: z.literal("handover"), to: z.string().min(1).max(64), note: z.string().max(20_000).default("") }),
  z.object({ type: z.literal("ask"), question: z.string().min(1).max(20_000) }),
  z.object({
    type: z.literal("permission"),
    id: z.string().min(1).max(100),
    tool: z.string().min(1).max(255).regex(SHOWABLE, NOT_SHOWABLE),
    inputs: inputsSchema.default({}),
    reason: z.string().max(MAX_REASON_CHARACTERS).default(""),
  }),
  /** A message for the service, in a search's run. Its other members are sent unchanged. */
  z.looseObject({ type: z.enum(["candidates", "cause"]) }),
]);

const wantedSchema = z.object({
  type: z.enum(["step", "cost", "handover", "ask", "permission"]),
  id: z.string().nullable().catch(null),
});

/** A line with an invalid message, and the reason why it is invalid. */
export interface WrongLine {
  readonly type: "wrong";
  readonly wanted: z.output<typeof wantedSchema>["type"];
  readonly problem: string;
  /** The message's `id`, for the answer; null if it has none. */
  readonly id: string | null;
}

export type AgentLine = z.output<typeof agentLineSchema> | WrongLine;

/** The messages on an agent's standard input, one JSON object per line. */
export type InputLine =
  | { readonly type: "handover.accepted" }
  | { readonly type: "handover.refused"; readonly reason: string }
  /**
   * `id` is the permission line's id. The agent must make the call with `inputs`; `edited` is true if they differ from
   * the agent's own inputs.
   */
  | {
      readonly type: "permission.approved";
      readonly id: string;
      readonly inputs: CallInputs;
      readonly edited: boolean;
    }
  | { readonly type: "permission.dismissed"; readonly id: string; readonly reason: string | null }
  /** Answers a `candidates` or `cause` line: the HTTP status (0 for no answer), and the body or problem. */
  | { readonly type: "candidates.answered" | "cause.answered"; readonly status: number; readonly body: unknown }
  /** A message from a person. `from` is `person <id>`. */
  | { readonly type: "message"; readonly from: string; readonly text: string };

/** Parses a line. Returns null if the line is no message. */
export function parseAgentLine(line: string): AgentLine | null {
  if (!line.startsWith("{")) return null;
  const body = parseJson(line);
  const parsed = parseBy(agentLineSchema, body);
  if ("data" in parsed) return parsed.data;
  const wanted = wantedSchema.safeParse(body);
  if (!wanted.success) return null;
  const problem = parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return { type: "wrong", wanted: wanted.data.type, problem, id: wanted.data.id };
}

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

/** Shortens a text to the maximum length of a step, and never splits a surrogate pair. */
export function cut(text: string): string {
  if (text.length <= MAX_STEP_CHARACTERS) return text;
  const end = MAX_STEP_CHARACTERS - 1;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`;
}
