import { openBareSockets } from "./bare-sockets.js";
import { type BenchService, openBenchService } from "./bench-service.js";
import { type ServiceOrder, type SocketCounts, type SocketTopic, type SocketWorld, TITLE } from "./socket-world.js";

/** Concurrent creates during the setup of a world. */
const AT_ONCE = 32;

/** The service that this process runs. */
interface Served {
  readonly world: SocketWorld;
  close(): Promise<void>;
}

/**
 * Opens a service with one workspace per topic. A workspace's topic changes when a secret is created in it. Each reader
 * has its own token.
 */
async function openSignalbox({ topics: count, socketsOnTopic }: SocketCounts): Promise<Served> {
  const service = await openBenchService("uws", { SOCKETS_PER_CREDENTIAL: "0" });
  const open = async (slug: string, readers: number): Promise<SocketTopic> => {
    const { id } = await service.create("/api/resources/workspaces", { slug, name: slug }, slug);
    const body = JSON.stringify({ name: TITLE, value: "0123456789abcdef", valueVersion: 1, hosts: [] });
    const write = { path: `/api/resources/workspaces/${id}/secrets`, headers: { cookie: service.cookie }, body };
    return { name: `workspace/${id}`, write, readers: await listTokens(service, id, readers) };
  };
  const topics: SocketTopic[] = [];
  while (topics.length < count) topics.push(await open(`readers-${topics.length}`, socketsOnTopic));
  const silent = await open("silent", 0);
  return { world: { port: service.port, path: "/api/stream", topics, silent }, close: () => service.close() };
}

async function listTokens(service: BenchService, workspaceId: string, count: number): Promise<string[]> {
  const path = `/api/resources/workspaces/${workspaceId}/tokens`;
  const tokens: string[] = [];
  while (tokens.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - tokens.length) }, (_, n) => {
      const name = `reader-${tokens.length + n}`;
      return service.create(path, { name, scopes: ["read"] }, `${workspaceId}-${name}`);
    });
    for (const { headers } of await Promise.all(some)) {
      tokens.push(`Bearer ${headers.get("service-workspace-token")}`);
    }
  }
  return tokens;
}

let served: Promise<Served> | null = null;

// Entry point of the child process: opens the requested service, answers with its {@link SocketWorld}, and then reports
// its CPU time on request.
process.on("message", async (order: ServiceOrder) => {
  if ("open" in order) {
    served = order.bare === null ? openSignalbox(order.open) : openBareSockets(order.bare);
    process.send?.((await served).world);
  } else if (order.ask === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  } else {
    await (await served)?.close();
    process.disconnect();
  }
});
process.on("disconnect", () => process.exit());
