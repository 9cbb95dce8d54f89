import type { IncomingMessage } from "node:http";
import type { BodyBytes } from "./body-bytes.js";
import { BodyTimeout, ClientGone, DROP_BYTES, DROP_MS } from "./transport.js";

/**
 * Reads the body into `bytes`. Rejects with {@link BodyTimeout}, {@link ClientGone}, or an error that `bytes` throws.
 */
export function readBody(incoming: IncomingMessage, bytes: BodyBytes, timeoutMs: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new BodyTimeout())), timeoutMs);
    const add = (chunk: Buffer) => {
      try {
        bytes.add(chunk);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const end = () => settle(() => resolve(bytes.whole()));
    const fail = () => settle(() => reject(new ClientGone()));
    const settle = (act: () => void) => {
      clearTimeout(timer);
      incoming.off("data", add).off("end", end).off("close", fail).off("error", fail);
      incoming.on("error", () => undefined);
      act();
    };
    incoming.on("data", add).on("end", end).on("close", fail).on("error", fail);
  });
}

/**
 * Drops the rest of the body, within the limits of `TransportRequest.dropBody`. Resolves with true if bytes were still
 * arriving when it gave up.
 */
export function dropBody(incoming: IncomingMessage, idleMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let dropped = 0;
    const drop = (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > DROP_BYTES) giveUp();
      else idle.refresh();
    };
    const settle = (isFlooding: boolean) => {
      clearTimeout(idle);
      clearTimeout(whole);
      incoming.off("data", drop).off("end", end).off("close", end);
      resolve(isFlooding);
    };
    const end = () => settle(false);
    const giveUp = () => settle(true);
    const idle = setTimeout(end, idleMs);
    const whole = setTimeout(giveUp, DROP_MS);
    incoming
      .on("data", drop)
      .on("end", end)
      .on("close", end)
      .on("error", () => undefined)
      .resume();
  });
}
