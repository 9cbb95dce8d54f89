import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceProcess } from "../processes/service-process.js";
import { NoiseTenant } from "./noise-tenant.js";

/** A scene in which one or more workspaces make noise while another workspace is quiet. */
export interface NoiseScene {
  readonly name: string;
  readonly workspaces: number;
  /** Hanging hook occurrences per workspace. */
  readonly firings: number;
  readonly on: "task.opened" | "run.starting";
  /** Number of hosts that each workspace's hooks use. */
  readonly hosts: number;
  /** Whether the quiet workspace's receiver is on one of the hosts that the noise uses. */
  readonly isSameHost: boolean;
}

/** The scenes in which outbound lanes must protect the quiet workspace. */
export const noiseScenes: readonly NoiseScene[] = [
  {
    name: "three with 5,000 hanging hooks on after events",
    workspaces: 3,
    firings: 5_000,
    on: "task.opened",
    hosts: 1,
  },
  { name: "three with 500 hanging hooks on before events", workspaces: 3, firings: 500, on: "run.starting", hosts: 1 },
  { name: "60 with 100 hanging hooks on after events", workspaces: 60, firings: 100, on: "task.opened", hosts: 1 },
  { name: "one over 200 hosts", workspaces: 1, firings: 5_000, on: "task.opened", hosts: 200 },
].flatMap((scene) => [
  { ...scene, on: scene.on as NoiseScene["on"], name: `${scene.name}, on the same host`, isSameHost: true },
  { ...scene, on: scene.on as NoiseScene["on"], name: `${scene.name}, on another host`, isSameHost: false },
]);

/** Milliseconds from the opening of a task to the request of a hook. */
interface Latencies {
  readonly veto: readonly number[];
  readonly after: readonly number[];
}

export interface NoiseReport {
  readonly alone: Latencies;
  readonly beside: Latencies;
  /** The codes of the noise's hook occurrences that failed. */
  readonly givenUp: readonly string[];
}

/** A service, and the cookie of its workspaces' owner. */
interface Site {
  readonly service: ServiceProcess;
  readonly ada: Record<string, string>;
}

const HOOKS_OF_A_WORKSPACE = 50;
const QUIET = "127.0.0.1";
/** Time limit for the receiver's messages, in milliseconds. */
const LONGEST_MS = 120_000;

/**
 * Plays a scene against a real service, and measures the latency of the quiet workspace's hooks, alone and during the
 * noise.
 */
export async function playNoise(scene: NoiseScene, tries: number): Promise<NoiseReport> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-noise-"));
  const receiver = fork(new URL("./noise-receiver.js", import.meta.url));
  const [{ port }] = (await once(receiver, "message")) as [{ readonly port: number }];
  const hosts = listHosts(scene);
  const allowed = [...new Set([QUIET, ...hosts])].map((host) => `http://${host}:${port}`);
  const service = await ServiceProcess.start(folder, {
    OUTBOUND_ALLOW: allowed.join(","),
    LOG_LEVEL: "info",
    RATE_PER_CREDENTIAL: "0",
    RATE_PER_ADDRESS: "0",
  });
  try {
    const ada = await service.signIn("ada@example.com");
    const quiet = await NoiseTenant.open(service, ada, "quiet");
    await quiet.addHook("task.opened", `http://${QUIET}:${port}/take`);
    await quiet.addHook("run.starting", `http://${QUIET}:${port}/refuse`);
    await measure(quiet, receiver, 20);
    const alone = await measure(quiet, receiver, tries);
    const settled = nextMessage(receiver, (message) => message.hanging !== undefined);
    const noisy = await makeNoise(
      { service, ada },
      scene,
      hosts.map((host) => `http://${host}:${port}/hang`),
    );
    await settled;
    const beside = await measure(quiet, receiver, tries);
    const givenUp = (await Promise.all(noisy.map((tenant) => tenant.firings("failed"))))
      .flat()
      .map(({ code }) => `${code}`);
    return { alone, beside, givenUp };
  } finally {
    await service.end("SIGKILL");
    receiver.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

function listHosts({ hosts, isSameHost }: NoiseScene): readonly string[] {
  const others = Array.from({ length: hosts }, (_, index) => `127.0.1.${index + 1}`);
  return isSameHost ? [QUIET, ...others.slice(1)] : others;
}

/**
 * Creates the noisy workspaces with their hooks. Opens tasks until these have fired the scene's number of hook
 * occurrences.
 */
async function makeNoise({ service, ada }: Site, scene: NoiseScene, urls: readonly string[]): Promise<NoiseTenant[]> {
  const hooks = Math.min(Math.max(HOOKS_OF_A_WORKSPACE, urls.length), scene.firings);
  const tenants: NoiseTenant[] = [];
  for (let n = 0; n < scene.workspaces; n++) {
    const tenant = await NoiseTenant.open(service, ada, `noisy-${n}`);
    tenants.push(tenant);
    for (let h = 0; h < hooks; h++) await tenant.addHook(scene.on, urls[h % urls.length] ?? "");
  }
  for (let n = 0; n < scene.firings / hooks; n++) await Promise.all(tenants.map((tenant) => tenant.openTask()));
  return tenants;
}

/**
 * Opens tasks of the quiet workspace one after another. For each task, waits until the requests of both hooks have
 * arrived.
 */
async function measure(quiet: NoiseTenant, receiver: ChildProcess, tries: number): Promise<Latencies> {
  const veto: number[] = [];
  const after: number[] = [];
  for (let n = 0; n < tries; n++) {
    const refused = arrival(receiver, "/refuse");
    const taken = arrival(receiver, "/take");
    const begunMs = performance.timeOrigin + performance.now();
    await quiet.openTask();
    veto.push((await refused) - begunMs);
    after.push((await taken) - begunMs);
  }
  return { veto, after };
}

async function arrival(receiver: ChildProcess, path: string): Promise<number> {
  return (await nextMessage(receiver, (message) => message.path === path)).atMs ?? 0;
}

/** A message from the receiver. */
interface Told {
  readonly path?: string;
  readonly atMs?: number;
  readonly hanging?: number;
}

/** Resolves with the next wanted message of the receiver; rejects on timeout. */
function nextMessage(receiver: ChildProcess, isWanted: (message: Told) => boolean): Promise<Told> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error("the receiver was asked nothing"))), LONGEST_MS);
    const hear = (message: Told) => {
      if (isWanted(message)) end(() => resolve(message));
    };
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      receiver.off("message", hear);
      settle();
    };
    receiver.on("message", hear);
  });
}
