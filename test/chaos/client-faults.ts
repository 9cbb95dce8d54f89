import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import WebSocket from "ws";
import type { Chance } from "../simulation/chance.js";
import type { Fault } from "./fault.js";
import { NoiseTenant } from "./noise-tenant.js";
import { untilServed } from "./until-served.js";
import type { World } from "./world.js";

const target = "clients";
/** How long sockets stay unread or other workspaces stay busy, in milliseconds. */
const LASTS_MS = 2_500;
const SOCKETS = 20;
const NEIGHBOURS = 2;
/** Each busy workspace sends `REQUESTS` requests, `AT_ONCE` of them at the same time. */
const AT_ONCE = 6;
const REQUESTS = 120;

/** Faults caused by clients on a shared service. */
export const clientFaults: readonly Fault[] = [
  { name: "streams not read", target, play: deafStreams },
  { name: "answers not read", target, play: deafClients },
  { name: "noisy neighbours", target, play: noisyNeighbours },
];

/** Opens sockets that subscribe to the configured team's stream and then stop reading. */
async function deafStreams(world: World): Promise<void> {
  const { service, headers, configured } = world;
  const sockets = Array.from({ length: SOCKETS }, () => {
    const socket = new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/stream`, { headers });
    socket.on("error", () => undefined);
    socket.once("open", () => {
      socket.send(JSON.stringify({ subscribe: `team/${configured.teamId}` }));
      socket.pause();
    });
    return socket;
  });
  await held(world, () => {
    for (const socket of sockets) socket.terminate();
  });
}

/**
 * Opens sockets of two kinds: some request a long answer and do not read it, the others send only a part of a request.
 */
async function deafClients(world: World, chance: Chance): Promise<void> {
  const { service, headers, configured } = world;
  const head = `host: 127.0.0.1\r\ncookie: ${headers.cookie}\r\n`;
  const list = `GET /api/teams/${configured.teamId}/tasks?limit=200 HTTP/1.1\r\n${head}\r\n`;
  const cut = `POST /api/teams/${configured.teamId}/tasks HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 9000\r\n\r\n{`;
  const sockets = Array.from({ length: SOCKETS }, (): Socket => {
    const socket = connect(service.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(chance.pick([list, cut]));
    return socket;
  });
  await held(world, () => {
    for (const socket of sockets) socket.destroy();
  });
}

/**
 * Two workspaces send requests as fast as they can. They open tasks, which fire hanging hooks, and they list the hook
 * occurrences. If a restart of the service interrupts a request, the workspace sends the request again.
 */
async function noisyNeighbours(world: World, chance: Chance): Promise<void> {
  const end = performance.now() + LASTS_MS;
  const loud = async (): Promise<void> => {
    const slug = `noise-${chance.between(1, 2 ** 31)}`;
    const tenant = await untilServed(() => NoiseTenant.open(world.service, world.headers, slug, null));
    await untilServed(() => tenant.addHook("task.opened", `${world.tell.url}/hang`));
    let left = REQUESTS;
    const ask = async (): Promise<void> => {
      while (left-- > 0 && performance.now() < end) {
        await untilServed<unknown>(left % 2 === 0 ? () => tenant.openTask() : () => tenant.firings("attempting"));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
  };
  const notServed = (error: unknown): void => {
    world.ledger.complaints.push(`a neighbour was not served: ${error}`);
  };
  await Promise.all(Array.from({ length: NEIGHBOURS }, () => loud().catch(notServed)));
}

/** Calls `letGo` after the duration of a fault. If the world ends earlier, the world calls `letGo`. */
async function held({ onEnd }: World, letGo: () => void): Promise<void> {
  onEnd.add(letGo);
  await pause(LASTS_MS);
  onEnd.delete(letGo);
  letGo();
}
