import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMicrosOfTree } from "./process-tree.js";

/** A queue's server, on a socket in a separate folder that other users cannot access. */
export interface QueueServer {
  /** The address for clients: the path of Redis's socket, or PostgreSQL's database URL. */
  readonly address: string;
  /** Returns the total CPU time of the server's processes, in microseconds. */
  cpuMicros(): number;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

export interface ServerKind {
  readonly name: string;
  readonly debianPackage: string;
  /** Starts the server; null if its package is not installed. */
  start(): Promise<QueueServer | null>;
}

/** Redis, configured to flush every write to disk before it answers. */
export const redis: ServerKind = { name: "Redis", debianPackage: "redis-server", start: startRedis };

/** PostgreSQL with its defaults: it flushes each commit to disk before it answers. */
export const postgres: ServerKind = { name: "PostgreSQL", debianPackage: "postgresql", start: startPostgres };

async function startRedis(): Promise<QueueServer | null> {
  const program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));
  if (program === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-redis-"));
  const address = join(folder, "redis.sock");
  const settings = ["--port", "0", "--unixsocket", address, "--dir", folder, "--appendonly", "yes"];
  const child = spawn(program, [...settings, "--appendfsync", "always"], { stdio: ["ignore", "pipe", "pipe"] });
  return serving(child, { address, folder, signal: "SIGTERM" });
}

async function startPostgres(): Promise<QueueServer | null> {
  const programs = findPostgres();
  if (programs === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-postgres-"));
  const user = findUser();
  // PostgreSQL refuses to run as root.
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const as = user ?? {};
  const data = join(folder, "data");
  const initial = ["--pgdata", data, "--username", "bench", "--auth", "trust", "--encoding", "UTF8", "--no-locale"];
  const made = spawnSync(join(programs, "initdb"), initial, { ...as, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`initdb failed: ${made.stderr}`);
  }
  const sockets = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`];
  const child = spawn(join(programs, "postgres"), ["-D", data, ...sockets], {
    ...as,
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const address = `postgres://bench@/postgres?host=${folder}`;
  return serving(child, { address, folder, signal: "SIGINT" });
}

/** Returns the folder with the programs of the newest installed version, or null if PostgreSQL is not installed. */
function findPostgres(): string | null {
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) return null;
  const [newest] = readdirSync(versions).sort((left, right) => Number(right) - Number(left));
  const programs = join(versions, newest ?? "", "bin");
  return existsSync(join(programs, "initdb")) ? programs : null;
}

/**
 * Returns the user and the group that must run PostgreSQL. If this process runs as root, these are the user and the
 * group of the package. Otherwise returns null, because this process's user can run PostgreSQL.
 */
function findUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const toId = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: toId("-u"), gid: toId("-g") };
}

/** Both servers log this text once they accept connections. */
const READY = "ready to accept connections";

/** A server process that was started and may not be ready. */
interface Begun {
  readonly address: string;
  readonly folder: string;
  /** The signal that stops the server without waiting for its clients. */
  readonly signal: NodeJS.Signals;
}

async function serving(child: ChildProcess, { address, folder, signal }: Begun): Promise<QueueServer> {
  const exit = once(child, "exit");
  const end = () => void child.kill(signal);
  // On these signals, stop the server too: it must not outlive this process.
  const endings = ["SIGINT", "SIGTERM"] as const;
  const exitNow = () => process.exit(1);
  process.once("exit", end);
  for (const ending of endings) process.once(ending, exitNow);
  const stop = async () => {
    process.off("exit", end);
    for (const ending of endings) process.off(ending, exitNow);
    end();
    await exit;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, stop, cpuMicros: () => cpuMicrosOfTree(child.pid ?? 0) };
}

/** Resolves when the server is ready. Throws with the server's log if the server exits first. */
async function untilReady(child: ChildProcess): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      // Keep reading and drop later output, so that the server never blocks on a full pipe.
      if (log.includes(READY)) return;
      log += chunk.toString();
      if (log.includes(READY)) resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`The server ended: ${log}`)));
  });
}
