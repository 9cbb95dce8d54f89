import { setTimeout as pause } from "node:timers/promises";
import { Refused } from "./refused.js";

/** A service that is killed, moved or out of room is up again long before these are over: a minute. */
const TRIES = 240;
const PAUSE_MS = 250;

/** Why a service may refuse for a while: it cannot write, or too much is asked of it. */
const PASSING: readonly number[] = [429, 503];

/**
 * What a service answers, in this life or in a later one: a connection that breaks, and a refusal for a while, are asked
 * again. Rejects with any other refusal at once, and with the last error when nobody answers.
 */
export async function untilServed<Answer>(
  ask: () => Promise<Answer>,
  wait: () => Promise<unknown> = () => pause(PAUSE_MS),
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const isFinal = error instanceof Refused && !PASSING.includes(error.status);
      if (isFinal || tries >= TRIES) throw error;
      await wait();
    }
  }
}
