import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Webhook } from "standardwebhooks";
import { workEventNames } from "../../actors/events/catalogue.js";
import { defaultBodySchema } from "../../actors/hooks/delivery/default-body.js";
import type { Cleaning } from "./service.js";

/** The signing secret that receivers verify with. */
export const hookSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export interface HookRequest {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body if the reference library verified the request; otherwise null. */
  readonly verified: Readonly<Record<string, unknown>> | null;
}

export interface HookReceiver {
  readonly url: string;
  readonly requests: readonly HookRequest[];
  /** Resolves after this many requests. */
  arrived(count: number): Promise<readonly HookRequest[]>;
}

/** Answers the n-th request, counted from 1; may also break the connection. */
export type Answering = (response: ServerResponse, n: number, socket: Socket) => void;

/**
 * Starts a real receiver on the loopback interface. It verifies requests with the reference library of Standard
 * Webhooks. The test fails at its end if a default body differed from its documented schema.
 */
export async function hookReceiver(t: Cleaning, answer: Answering): Promise<HookReceiver> {
  const requests: HookRequest[] = [];
  const differences: string[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const webhook = new Webhook(hookSecret);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString("utf8");
    const named = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    differences.push(...findDifferences(text));
    requests.push({ headers: request.headers, text, verified: verify(webhook, text, named) });
    answer(response, requests.length, request.socket);
    for (const { resolve } of waiting.filter(({ count }) => requests.length >= count)) resolve();
    waiting = waiting.filter(({ count }) => requests.length < count);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const [first] = differences;
    if (first !== undefined) throw new Error(first);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    arrived: async (count) => {
      if (requests.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return requests;
    },
  };
}

const schemas = new Map(workEventNames.map((on) => [String(on), defaultBodySchema(on)]));

/** Returns how a default body differs from its schema; empty for bodies that a hook defines. */
function findDifferences(text: string): readonly string[] {
  const body = parse(text);
  const schema = "occurrence" in body && "hook" in body ? schemas.get(String(body.on)) : undefined;
  const error = schema?.safeParse(body).error;
  return error === undefined ? [] : [`a request is not as it is documented: ${error.message}\n${text}`];
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function verify(webhook: Webhook, text: string, headers: Record<string, string>): Record<string, unknown> | null {
  try {
    return webhook.verify(text, headers) as Record<string, unknown>;
  } catch {
    return null;
  }
}
