import type { RunStep } from "../../../actors/runners/protocol.js";
import { cut } from "./agent-lines.js";

/**
 * Minimum length of a masked value. A shorter value occurs in ordinary words: masking it would hide text, and the gaps
 * would reveal the value.
 */
const SHORTEST = 6;

const MASKED = "***";

/** Returns a function that masks secrets in a text. It also masks each single line of a multi-line secret. */
export function toMask(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets
    .flatMap((secret) => [secret, ...secret.split("\n")])
    .map((part) => part.trim())
    .filter((part) => part.length >= SHORTEST)
    .sort((one, other) => other.length - one.length);
  return (text) => hidden.reduce((masked, part) => masked.replaceAll(part, MASKED), text);
}

/** Masks every text in a value, including names. It is recursive, so the value must not be deep. */
export function maskedWithin(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((inner) => maskedWithin(inner, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [mask(name), maskedWithin(inner, mask)]));
}

/** Returns a step with its text and all names masked, and the text shortened to the maximum length of a step. */
export function maskedStep<Step extends Pick<RunStep, "text" | "tool" | "call" | "skill">>(
  step: Step,
  mask: (text: string) => string,
): Step {
  const { text, tool, call, skill } = step;
  const server = call?.server ?? null;
  return {
    ...step,
    text: cut(mask(text)),
    tool: tool === null ? null : mask(tool),
    ...(call && { call: { ...call, tool: mask(call.tool), server: server === null ? null : mask(server) } }),
    ...(skill !== undefined && { skill: mask(skill) }),
  };
}
