import { setTimeout as pause } from "node:timers/promises";
import { Refused } from "./refused.js";

/**
 * All tries together take a minute. This is much longer than a service needs to start again after a kill, a move or a
 * full disk.
 */
const TRIES = 240;
const PAUSE_MS = 250;

/** Statuses of a temporary refusal: too many requests, or a service that cannot write. */
const PASSING: readonly number[] = [429, 503];

/**
 * Repeats a request until a process of the service answers it, and returns this answer. Repeats after a broken
 * connection or a temporary refusal. Rejects immediately with any other refusal. If no process answers in time, rejects
 * with the last error.
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
