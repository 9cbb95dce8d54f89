import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

/** A request that the API received. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly json?: unknown;
  /** A text body instead of JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What replaces the answer to a request: another answer, a dropped connection, or no answer. */
export type ApiFault = ApiAnswer | "drop" | "hang";

/** An answered delivery, as it was sent. */
export interface SentDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  /** The text of the answer. */
  readonly text: string;
}

/** A simulated API of a service with webhooks, on the loopback interface. */
export interface LoopbackApi {
  readonly url: string;
  /** `127.0.0.1:<port>`, the form in which the `hosts` of integrations and secrets name the API. */
  readonly host: string;
  readonly requests: readonly ApiRequest[];
  /**
   * Faults for requests whose `<method> <path>` matches. A fault applies to the next `times` requests or, without
   * `times`, until it is removed.
   */
  readonly faults: Map<RegExp, { readonly fault: ApiFault; times?: number }>;
  /** Resolves after this many requests whose `<method> <path>` matches. */
  arrived(pattern: RegExp, count?: number): Promise<void>;
  /** Sends a delivery; throws if the connection fails. */
  deliver(address: string, headers: Readonly<Record<string, string>>, body: string): Promise<SentDelivery>;
  /** All answered deliveries, in the order of their answers. */
  readonly deliveries: readonly SentDelivery[];
  close(): Promise<void>;
}

/** Starts the API. `answer` handles every request without a fault. */
export async function startLoopbackApi(
  answer: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>,
): Promise<LoopbackApi> {
  const requests: ApiRequest[] = [];
  const deliveries: SentDelivery[] = [];
  const faults: LoopbackApi["faults"] = new Map();
  const waiting = new Set<() => void>();
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    for (const look of [...waiting]) look();
    const fault = takeFault(faults, request);
    if (fault === "hang") return;
    if (fault === "drop") return void incoming.socket.destroy();
    send(response, fault ?? (await answer(request)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url: `http://${host}`,
    host,
    requests,
    faults,
    deliveries,
    arrived: (pattern, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (requests.filter((one) => pattern.test(`${one.method} ${one.path}`)).length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    deliver: async (to, headers, body) => {
      const sent = { "content-type": "application/json", ...headers };
      const answered = await fetch(to, { method: "POST", headers: sent, body });
      const delivery = { headers: sent, body, status: answered.status, text: await answered.text() };
      deliveries.push(delivery);
      return delivery;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the fault for a request, and counts this use of the fault. Returns undefined if there is none. */
function takeFault(faults: LoopbackApi["faults"], { method, path }: ApiRequest): ApiFault | undefined {
  const [pattern, found] = [...faults].find(([each]) => each.test(`${method} ${path}`)) ?? [];
  if (pattern === undefined || found === undefined) return undefined;
  if (found.times !== undefined) found.times -= 1;
  if (found.times === 0) faults.delete(pattern);
  return found.fault;
}

async function readRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://loopback");
  const text = Buffer.concat(chunks).toString("utf8");
  return { method: incoming.method ?? "", path: pathname, query: searchParams, headers: incoming.headers, text };
}

function send(response: ServerResponse, { status, json, text, headers }: ApiAnswer): void {
  response.writeHead(status, { "content-type": text === undefined ? "application/json" : "text/plain", ...headers });
  response.end(text ?? (json === undefined ? "" : JSON.stringify(json)));
}
