import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

/** Counts of the received requests. */
export interface Received {
  verified: number;
  forged: number;
  vetoes: number;
  readonly byEvent: Map<string, number>;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received;
  close(): Promise<void>;
}

interface HookBody {
  readonly on: string;
  readonly event: { readonly note?: string };
}

/**
 * Starts a receiver of hook requests on loopback. It verifies each request with the reference library of Standard
 * Webhooks, and refuses a handover whose note names no `.md` file.
 */
export async function startReceiver(secret: string): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const received: Received = { verified: 0, forged: 0, vetoes: 0, byEvent: new Map() };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    try {
      const body = webhook.verify(Buffer.concat(chunks).toString("utf8"), headers) as HookBody;
      received.verified += 1;
      received.byEvent.set(body.on, (received.byEvent.get(body.on) ?? 0) + 1);
      const refuses = body.on === "handover.giving" && !/\.md/.test(body.event.note ?? "");
      if (refuses) received.vetoes += 1;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(refuses ? { refuse: "the note must name the file that was written" } : {}));
    } catch {
      received.forged += 1;
      response.statusCode = 401;
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
