import { openBenchService } from "./bench-service.js";
import { arrangeScene, type HttpScene } from "./http-scene.js";
import { openBare, openFastify } from "./rivals.js";

/** Which server to open; rivals answer what the scene of a service says. */
export type ServerWanted =
  | { readonly server: "uws" | "node" }
  | { readonly server: "bare" | "fastify"; readonly scene: HttpScene };

/** What the process is told: to open its server, or to say what it has used of the processor. */
export type ServerMessage = ServerWanted | "cpu";

/** An open server: where each exchange of the scene is answered. */
export interface ServerOpened {
  readonly ports: readonly number[];
  readonly scene: HttpScene;
}

/** The processor's time that the process has used, in microseconds. */
export interface ServerUsage {
  readonly cpuMicros: number;
}

/** For so long the one who filled the workspace is taken to be about, and the one who reads it not to be alone. */
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

// Runs in its own process, so that its use of the processor is the server's alone; ends when the measuring one does.
process.on("message", async (message: ServerMessage) => {
  if (message === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system } satisfies ServerUsage);
  } else process.send?.(await open(message));
});
process.on("disconnect", () => close().finally(() => process.exit()));
