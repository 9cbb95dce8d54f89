import { statSync } from "node:fs";
import { join } from "node:path";
import { listEntries } from "../../storage/finding.js";
import type { Reading } from "../../storage/store.js";
import { remove, workspaceWithTeam } from "../support/resources.js";
import type { Client, Reply, TestService } from "../support/service.js";

/**
 * A steady load that must leave nothing behind in the store. It creates and deletes secrets, issues and revokes tokens,
 * and opens and closes tasks.
 */
export class SteadyLoad {
  readonly #ada: Client;
  readonly workspaceId: string;
  readonly #teamId: string;
  #count = 0;

  private constructor(ada: Client, workspaceId: string, teamId: string) {
    this.#ada = ada;
    this.workspaceId = workspaceId;
    this.#teamId = teamId;
  }

  /** Opens a workspace with a line whose tasks wait for a runner. */
  static async begin(service: TestService): Promise<SteadyLoad> {
    const ada = await service.signIn("ada@example.com");
    const { workspaceId, teamId } = await workspaceWithTeam(ada);
    const stations = [{ key: "work", name: "Work", kind: "work" }];
    await ada.create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations });
    return new SteadyLoad(ada, workspaceId, teamId);
  }

  /** Creates a secret, changes its value, and deletes it. */
  async secret(): Promise<void> {
    const name = `secret-${this.#next()}`;
    const within = `/api/resources/workspaces/${this.workspaceId}/secrets`;
    const made = await this.#create(within, { name, value: "v".repeat(200), valueVersion: 1 });
    const path = `/api/resources/secrets/${made.body?.id}`;
    const body = { name, value: "w".repeat(200), valueVersion: 2 };
    expect(await this.#ada.request("PUT", path, body, { "if-match": '"1"' }), 200);
    expect(await remove(this.#ada, path, 2), 204);
  }

  /** Opens a task, adds a note and closes the task. The task's text is long enough to be stored as a body. */
  async task(): Promise<void> {
    const title = `Task ${this.#next()}`;
    const body = { title, line: "dev", description: title.repeat(500) };
    const opened = expect(await this.#ada.request("POST", `/api/teams/${this.#teamId}/tasks`, body), 201);
    const path = `/api/tasks/${opened.body?.id}`;
    expect(await this.#ada.request("POST", `${path}/notes`, { text: "on it" }), 200);
    expect(await this.#ada.request("POST", `${path}/close`, {}), 200);
  }

  /** Issues a token and revokes it. */
  async token(): Promise<void> {
    const within = `/api/resources/workspaces/${this.workspaceId}/tokens`;
    const made = await this.#create(within, { name: `token-${this.#next()}`, scopes: ["read"] });
    expect(await remove(this.#ada, `/api/resources/tokens/${made.body?.id}`, 1), 204);
  }

  async #create(path: string, body: unknown): Promise<Reply> {
    const key = { "idempotency-key": `steady-${this.#next()}` };
    return expect(await this.#ada.request("POST", path, body, key), 201);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

function expect(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`answered ${reply.status}, not ${status}: ${reply.text}`);
  return reply;
}

/**
 * Tables whose rows live for at least a day under any settings. The rows identify repeated requests, or hold bodies
 * that may be used again.
 */
const dayLong = new Set(["idempotency", "seen", "blob", "blob-use", "blob-unused"]);

/** The contents of a store. */
export interface Stored {
  /** Number of entries by table, or by space outside of tables. */
  readonly entries: ReadonlyMap<string, number>;
  /**
   * `lasting` is the number of entries outside of the day-long tables. `forADay` is the number of entries in these
   * tables.
   */
  readonly lasting: number;
  readonly forADay: number;
}

export function countStored(reading: Reading): Stored {
  const entries = new Map<string, number>();
  for (const { key } of listEntries(reading, [])) {
    const name = String(key[1] === "row" ? key[2] : key[1]);
    entries.set(name, (entries.get(name) ?? 0) + 1);
  }
  const sum = (isCounted: (name: string) => boolean) =>
    [...entries].reduce((total, [name, count]) => total + (isCounted(name) ? count : 0), 0);
  return { entries, lasting: sum((name) => !dayLong.has(name)), forADay: sum((name) => dayLong.has(name)) };
}

/** Returns the size of a store's file, in bytes. */
export function fileBytes(folder: string): number {
  return statSync(join(folder, "data.mdb")).size;
}
