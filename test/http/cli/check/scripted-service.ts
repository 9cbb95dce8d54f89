import { createServer, type IncomingMessage } from "node:http";
import type { Test } from "tap";
import { fixedToken } from "../../../../http/cli/check/credential.js";
import { createRequests, type Requests } from "../../../../http/cli/check/requests.js";
import { Service } from "../../../../http/cli/check/service.js";

export interface Came {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer; `lost` cuts the connection instead. */
export type Scripted =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "lost";

/**
 * A server with scripted answers, for faults that a real service does not produce on demand: lost answers, an exhausted
 * quota, a token that expires at a given moment. Tests with the real service cover the checks themselves.
 */
export interface ScriptedServer {
  readonly url: string;
  /** All received requests, in order. */
  readonly came: readonly Came[];
  readonly requests: Requests;
  readonly service: Service;
  /** The command's waits in milliseconds, in order. */
  readonly waits: readonly number[];
  readonly logged: readonly string[];
  /** Signals the command to stop. */
  readonly end: () => void;
  advance(ms: number): void;
}

export async function startScripted(t: Test, answer: (came: Came, nth: number) => Scripted): Promise<ScriptedServer> {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: text === "" ? {} : JSON.parse(text) };
      const said = answer(one, came.push(one));
      if (said === "lost") return void request.socket.destroy();
      response.writeHead(said.status, { "content-type": "application/json", ...said.headers });
      response.end(said.body === undefined ? "" : JSON.stringify(said.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  let nowMs = 0;
  const waits: number[] = [];
  const logged: string[] = [];
  const ending = new AbortController();
  const requests = createRequests({
    nowMs: () => nowMs,
    wait: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
    ended: ending.signal,
    log: (line) => void logged.push(line),
  });
  const service = new Service({ requests, url, credential: fixedToken("kept-token") });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { url, came, requests, service, waits, logged, end: () => ending.abort(), advance };
}
