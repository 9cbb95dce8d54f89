import { z } from "zod";
import { parseDoubles as parseJson } from "./json-answer.js";

/** Longest answer read, in bytes, with whatever a host says about it; a longer one is cut, and so unreadable. */
export const MAX_MODEL_ANSWER_BYTES = 512 * 1024;

/** Tokens of one call. */
export interface ModelUsage {
  readonly in: number;
  readonly out: number;
}

/** A model's completion. Whatever of it is missing or has another form is left empty. */
export interface Completion {
  readonly text: string;
  /** Whether the model had no tokens left to finish it. */
  readonly isCut: boolean;
  /** Null when the host does not say it. */
  readonly usage: ModelUsage | null;
}

const tokens = z.int().min(0).max(1_000_000_000);
const usageSchema = z.object({ usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }) });
const textParts = z.array(z.object({ type: z.string(), text: z.string().optional() }));
const choiceSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.union([z.string(), textParts]) }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});
const errorSchema = z.object({ error: z.union([z.string(), z.object({}).catchall(z.unknown())]) });

/** Reads the body of a completion. */
export function readCompletion(body: string): Completion {
  const json = parseJson(body);
  const used = usageSchema.safeParse(json);
  const usage = used.success ? { in: used.data.usage.prompt_tokens, out: used.data.usage.completion_tokens } : null;
  const [choice] = choiceSchema.safeParse(json).data?.choices ?? [];
  if (choice === undefined) return { text: "", isCut: false, usage };
  const { content } = choice.message;
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
  return { text, isCut: choice.finish_reason === "length", usage };
}

/**
 * The value of a model's answer: its JSON, bare, in a code block, or after whatever the model thought aloud. Undefined
 * when it has none.
 */
export function readJsonOf(text: string): unknown {
  const bare = parseJson(text);
  if (bare !== undefined) return bare;
  const answer = text.slice(text.lastIndexOf("</think>") + 1);
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")];
  return from === -1 || to < from ? undefined : parseJson(answer.slice(from, to + 1));
}

/** Longest part of an error that is looked at, in characters. */
const MAX_ERROR_CHARACTERS = 4_000;

/** The error of a refusal: its words, to find out which part of a request it is about. Never shown or logged. */
export function readModelError(body: string): { readonly words: string; readonly code: string | null } {
  const parsed = errorSchema.safeParse(parseJson(body));
  if (!parsed.success) return { words: body.slice(0, MAX_ERROR_CHARACTERS), code: null };
  const { error } = parsed.data;
  if (typeof error === "string") return { words: error.slice(0, MAX_ERROR_CHARACTERS), code: null };
  const words = [error.message, error.param, error.code].filter((word) => typeof word === "string").join(" ");
  const code = typeof error.code === "string" && /^[a-z_]{1,64}$/.test(error.code) ? error.code : null;
  return { words: words.slice(0, MAX_ERROR_CHARACTERS), code };
}
