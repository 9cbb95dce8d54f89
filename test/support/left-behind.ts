import { readFileSync } from "node:fs";

const PATIENCE_MS = 5_000;
const LOOK_MS = 2;

/**
 * Objects whose functions a test could replace. `process` is not in this list, because tap replaces functions of
 * `process`.
 */
const shared = { Date, Math, JSON, Object, Promise, performance, console };

/** Names under which libraries store global state. */
const ofLibrary = /^globalThis\.(__|Symbol\()/;

/** Process state through which one test file could affect another. */
export interface ProcessPicture {
  readonly cwd: string;
  readonly umask: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Number of process listeners, by event. */
  readonly listeners: ReadonlyMap<string, number>;
  /** Ids of child processes that have not exited; empty if the system does not report them. */
  readonly children: readonly string[];
  /** Number of resources that keep the process alive, by Node's type name: timers, sockets, processes. */
  readonly active: ReadonlyMap<string, number>;
  /** Values by full name; undefined for accessors, which Node replaces with their value at first use. */
  readonly globals: ReadonlyMap<string, unknown>;
}

export function picture(): ProcessPicture {
  return {
    cwd: process.cwd(),
    umask: process.umask(),
    environment: { ...process.env },
    listeners: new Map(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    children: childrenNow(),
    active: counted(process.getActiveResourcesInfo()),
    globals: new Map([
      ...listMembers("globalThis", globalThis),
      ...Object.entries(shared).flatMap(([name, of]) =>
        listMembers(name, of).filter(([, value]) => typeof value === "function"),
      ),
    ]),
  };
}

/**
 * Returns the differences between an earlier snapshot and now, as text; empty if there are no differences. Waits for
 * resources that are closing, so that late errors still count for the file.
 */
export async function leftBehind(before: ProcessPicture, patienceMs = PATIENCE_MS): Promise<readonly string[]> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    await new Promise(setImmediate);
    const now = picture();
    const grown = [...toGrown("keeps up", before.active, now.active), ...startedSince(before, now)];
    if (grown.length === 0 || performance.now() > endMs) return [...grown, ...listChanges(before, now)];
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function childrenNow(): string[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
  } catch {
    return [];
  }
}

/**
 * Describes the new child processes that do not keep this process alive. Node does not list them as active resources,
 * but they still run. Returns an empty list if there are no such processes.
 */
function startedSince(before: ProcessPicture, now: ProcessPicture): string[] {
  const more = now.children.filter((id) => !before.children.includes(id)).length;
  return more > 0 && !now.active.has("ProcessWrap") ? [`keeps up: ${more} × process`] : [];
}

function listChanges(before: ProcessPicture, now: ProcessPicture): string[] {
  const changes = toGrown("listens to the process", before.listeners, now.listeners);
  if (now.cwd !== before.cwd) changes.push(`the working folder is ${now.cwd}`);
  if (now.umask !== before.umask) changes.push(`the umask is ${now.umask.toString(8)}`);
  for (const name of new Set([...Object.keys(before.environment), ...Object.keys(now.environment)])) {
    if (before.environment[name] !== now.environment[name]) changes.push(`the environment's ${name} is another`);
  }
  for (const [name, value] of before.globals) {
    if (value !== undefined && !Object.is(now.globals.get(name), value)) changes.push(`${name} is another`);
  }
  for (const name of now.globals.keys()) {
    if (!before.globals.has(name) && !ofLibrary.test(name)) changes.push(`${name} is new`);
  }
  return changes;
}

function toGrown(what: string, before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): string[] {
  return [...now].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0);
    return more > 0 ? [`${what}: ${more} × ${name}`] : [];
  });
}

/** Returns an object's own members. The name of each member starts with `name`. */
function listMembers(name: string, of: object): [string, unknown][] {
  return Reflect.ownKeys(of).map((key) => [
    `${name}.${String(key)}`,
    Object.getOwnPropertyDescriptor(of, key)?.value as unknown,
  ]);
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
