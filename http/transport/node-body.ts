import type { IncomingMessage } from "node:http";
import type { BodyBytes } from "./body-bytes.js";
import { BodyTimeout, ClientGone } from "./transport.js";

/** Reads the body into `bytes`; rejects with what those throw, {@link BodyTimeout} or {@link ClientGone}. */
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

/** Drops what arrives of the body; resolves when it is over, the client is gone, or after `timeoutMs`. */
export function dropBody(incoming: IncomingMessage, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (incoming.complete || incoming.destroyed) return resolve();
    const end = () => {
      clearTimeout(timer);
      incoming.off("end", end).off("close", end);
      resolve();
    };
    const timer = setTimeout(end, timeoutMs);
    incoming
      .on("end", end)
      .on("close", end)
      .on("error", () => undefined)
      .resume();
  });
}
