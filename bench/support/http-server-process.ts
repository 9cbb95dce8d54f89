import { openBenchService } from "./bench-service.js";
import { arrangeScene, type HttpScene } from "./http-scene.js";
import { openBare, openFastify } from "./rivals.js";

/** The server to open. Rivals answer with the data of a service's scene. */
export type ServerWanted =
  | { readonly server: "uws" | "node" }
  | { readonly server: "bare" | "fastify"; readonly scene: HttpScene };

/** A message to the process: open a server, or report its CPU time. */
export type ServerMessage = ServerWanted | "cpu";

/** An open server: the port for each exchange of the scene. */
export interface ServerOpened {
  readonly ports: readonly number[];
  readonly scene: HttpScene;
}

/** The CPU time that the process has used, in microseconds. */
export interface ServerUsage {
  readonly cpuMicros: number;
}

/**
 * How long a client counts as active after its last request, in milliseconds. The process waits this long between
 * filling the workspace and the load. So the client that filled the workspace no longer counts as active.
 */
const ABOUT_MS = 10_000;

let close: () => Promise<void> = async () => undefined;

async function open(wanted: ServerWanted): Promise<ServerOpened> {
  if (wanted.server === "bare") {
    const { scene } = wanted;
    const { default: uws } = await import("uWebSockets.js");
    const rivals = await Promise.all(scene.exchanges.map(({ answer }) => openBare(uws, answer)));
    close = async () => void (await Promise.all(rivals.map((rival) => rival.close())));
    return { scene, ports: rivals.map(({ port }) => port) };
  }
  if (wanted.server === "fastify") {
    const { scene } = wanted;
    const rival = await openFastify(scene.bearer, scene.resources);
    close = rival.close;
    return { scene, ports: scene.exchanges.map(() => rival.port) };
  }
  const service = await openBenchService(wanted.server, { OUTBOUND_ALLOW: "hooks.example.com" });
  close = service.close;
  const scene = await arrangeScene(service);
  await new Promise((resolve) => setTimeout(resolve, ABOUT_MS));
  return { scene, ports: scene.exchanges.map(() => service.port) };
}

// Entry point of the child process. It runs nothing but the server, so its CPU time is that of the server. Exits with
// the measuring process.
process.on("message", async (message: ServerMessage) => {
  if (message === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system } satisfies ServerUsage);
  } else process.send?.(await open(message));
});
process.on("disconnect", () => close().finally(() => process.exit()));
