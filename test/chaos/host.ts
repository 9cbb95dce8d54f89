import { join } from "node:path";
import { RunnerProcess } from "../processes/runner-process.js";
import type { ServiceKeeper } from "./service-keeper.js";
import { Wire } from "./wire.js";

/** A runner that can be restarted, and the network between this runner and the service. */
export interface Host {
  readonly folder: string;
  readonly wire: Wire;
  process: RunnerProcess;
  /** Kills the runner with SIGKILL, and starts it again in the same folder. */
  restart(): Promise<void>;
}

/** Starts a runner in its own folder; its agent is `agent.sh`. */
export async function openHost(
  folder: string,
  of: {
    readonly name: string;
    readonly slots: number;
    readonly service: ServiceKeeper;
    readonly poolToken: string;
    /** The address of repositories; `{name}` is replaced by `owner/name`. */
    readonly gitUrl: string;
  },
): Promise<Host> {
  const { name, slots, service, poolToken, gitUrl } = of;
  const wire = await Wire.open(() => service.port);
  const start = () =>
    new RunnerProcess({
      url: wire.url,
      token: poolToken,
      workFolder: join(folder, name),
      gitUrl,
      command: ["sh", join(folder, "agent.sh")],
      more: ["--slots", `${slots}`, "--name", name],
    });
  const host: Host = {
    folder: join(folder, name),
    wire,
    process: start(),
    restart: async () => {
      await host.process.end("SIGKILL");
      host.process = start();
    },
  };
  return host;
}
