import type Uws from "uWebSockets.js";
import { randomUUID } from "node:crypto";
import fastify from "fastify";
import type { HttpScene } from "./http-scene.js";

/** A server to compare with Signalbox. */
export interface Rival {
  readonly port: number;
  close(): Promise<void>;
}

/** Opens a minimal server: it reads the whole request and always answers the same bytes. */
export async function openBare(uws: Pick<typeof Uws, "App" | "us_socket_local_port">, answer: string): Promise<Rival> {
  const app = uws.App();
  app.get("/*", (response) => {
    response.writeHeader("content-type", "application/json").end(answer);
  });
  app.post("/*", (response) => {
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (isLast) response.writeStatus("201 Created").writeHeader("content-type", "application/json").end(answer);
    });
  });
  return new Promise((resolve) => {
    app.listen("127.0.0.1", 0, (socket) => {
      if (socket === false) throw new Error("no port");
      resolve({ port: uws.us_socket_local_port(socket), close: async () => void app.close() });
    });
  });
}

/**
 * Opens a service without a store: fastify over in-memory maps. It authenticates the bearer, reads, lists, and creates
 * once per idempotency key. It validates no body, keeps no change log and persists nothing.
 */
export async function openFastify(token: string, resources: HttpScene["resources"]): Promise<Rival> {
  const app = fastify();
  const tokens = new Map([[token, "workspace"]]);
  const byId = new Map<string, object>(
    Object.values(resources).flatMap((listed) => listed.map((one) => [one.id, one] as const)),
  );
  const byKey = new Map<string, object>();
  app.addHook("onRequest", async (request, reply) => {
    if (!tokens.has(request.headers.authorization ?? "")) await reply.code(401).send();
  });
  app.get<{ Params: { id: string } }>("/api/resources/:kind/:id", async (request, reply) => {
    const found = byId.get(request.params.id);
    return found ?? reply.code(404).send();
  });
  app.get<{ Params: { kind: string } }>("/api/resources/workspaces/:workspaceId/:kind", async (request) => ({
    items: resources[request.params.kind] ?? [],
  }));
  app.post<{ Body: object }>("/api/resources/workspaces/:workspaceId/:kind", async (request, reply) => {
    const key = String(request.headers["idempotency-key"]);
    const made = byKey.get(key) ?? Object.assign({ id: randomUUID(), version: 1 }, request.body);
    byKey.set(key, made);
    return reply.code(201).send(made);
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, close: () => app.close() };
}
