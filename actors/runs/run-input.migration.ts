import { createHash } from "node:crypto";
import type { Message } from "../../runtime/turns/turn.js";
import { deadLetterSpace, rowSpace, undeliveredSpace } from "../../storage/keys.js";
import { eachRow, putRow, removeRow, removeTable } from "../../storage/migration-walks.js";
import type { Slice, Walk } from "../../storage/migrations.js";
import type { Change, Entry, Reading } from "../../storage/store.js";

/**
 * Gives runs an owner and an input row, and turns diffs and skills into bodies. The input row of an ended run has only
 * the run's config. The input row of an active run also has the data of the run's job, if the current rows still have
 * that data.
 */

/** A checkout, in the form before or after the migration. */
interface Checkout {
  readonly repository: string;
  readonly base: string;
  /** The form before the migration. */
  readonly diff?: string;
  /** The form after the migration. */
  readonly digest?: string | null;
}
interface Config {
  readonly repositories: readonly { readonly name: string }[];
  readonly skills?: readonly { readonly digest: string }[];
}
interface Run {
  readonly id: string;
  readonly taskId: string;
  readonly lineId: string;
  readonly stationKey: string;
  readonly passesTo: readonly string[];
  readonly state: string;
  /** The form after the migration. */
  readonly owner?: unknown;
}
interface StartRun extends Message, Omit<Run, "id" | "state" | "owner"> {
  readonly config: Config;
  readonly beginning?: unknown;
}
interface Line {
  readonly fields: {
    readonly key: string;
    readonly name: string;
    readonly stations: readonly { readonly key: string; readonly name: string }[];
  };
}
interface Task {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly marks: Readonly<Record<string, string>>;
}
interface Note {
  readonly at: string;
  readonly from: string;
  readonly text: string;
}
interface Skill {
  readonly name: string;
  readonly description: string;
  readonly files: readonly { readonly path: string; readonly content: string }[];
}

/** Maximum number of notes that a run received: the latest ones. */
const NOTES_GIVEN = 200;
/** Number of entries per slice of a table whose entries can take megabytes. */
const HEAVY = 8;

/** Turns the diffs of checkouts into bodies. */
function checkoutChanges({ partition, entries, reading }: Slice, table: string): readonly Change[] {
  const bodies = new Bodies(partition, reading);
  const rows = entries.flatMap(({ key, value }) => {
    const { diff, ...row } = value as Checkout;
    if (diff === undefined) return [];
    const digest = diff === "" ? null : bodies.keep(diff);
    bodies.refer([digest]);
    return [putRow({ partition }, table, key.slice(3), { ...row, digest })];
  });
  return [...rows, ...bodies.changes()];
}

function runChanges({ partition, entries, reading }: Slice): readonly Change[] {
  const bodies = new Bodies(partition, reading);
  const rows = entries.flatMap(({ value }) => {
    const run = value as Run;
    if (run.owner !== undefined) return [];
    const owned = putRow({ partition }, "run", [run.id], { ...run, ...ownedByTask(partition, run.taskId) });
    const config = reading.get<Config>([partition, rowSpace, "run-config", run.id]);
    if (config === undefined) return [owned];
    const input = toInput({ partition, reading, bodies }, run, config);
    return [
      owned,
      putRow({ partition }, "run-input", [run.id], input),
      removeRow({ partition }, "run-config", [run.id]),
    ];
  });
  return [...rows, ...bodies.changes()];
}

interface Scope {
  readonly partition: string;
  readonly reading: Reading;
  readonly bodies: Bodies;
}

function toInput(scope: Scope, run: Run, config: Config) {
  const { bodies } = scope;
  const skills = storeSkills(scope, config);
  const beginning = run.state === "ended" ? null : toBeginning(scope, run, config);
  const isClaimed = run.state === "claimed" || run.state === "running";
  const brief = isClaimed ? toBrief(scope, run.taskId) : null;
  const diffs = beginning?.checkouts.map(({ diff }) => diff) ?? [];
  bodies.refer([...skills, ...diffs, brief?.notes ?? null]);
  return { runId: run.id, config, beginning, claimed: isClaimed ? { brief, secrets: {} } : null };
}

function toBeginning({ partition, reading }: Scope, run: Omit<Run, "id" | "state">, config: Config) {
  const line = reading.get<Line>([partition, rowSpace, "resource", "line", run.lineId])?.fields ?? {
    key: "",
    name: "",
    stations: [],
  };
  const order = line.stations.map(({ key }) => key);
  const later = run.passesTo.filter((to) => order.indexOf(to) > order.indexOf(run.stationKey));
  const name = line.stations.find(({ key }) => key === run.stationKey)?.name ?? run.stationKey;
  return {
    line: { key: line.key, name: line.name },
    station: { name, passesTo: run.passesTo, next: later },
    checkouts: config.repositories.map(({ name: repository }) => {
      const before = reading.get<Checkout>([partition, rowSpace, "task-checkout", run.taskId, repository]);
      return { repository, base: before?.base ?? null, diff: before?.digest ?? null };
    }),
  };
}

function toBrief({ partition, reading, bodies }: Scope, taskId: string) {
  const task = reading.get<Task>([partition, rowSpace, "task", taskId]);
  if (task === undefined) return null;
  const { id, title, description, url, marks } = task;
  const latest: Entry<Note>[] = reading.range({
    prefix: [partition, rowSpace, "task-note", taskId],
    reverse: true,
    limit: NOTES_GIVEN,
  });
  const notes = latest.reverse().map(({ value: { at, from, text } }) => ({ at, from, text }));
  return { id, title, description, url, marks, notes: notes.length === 0 ? null : bodies.keep(JSON.stringify(notes)) };
}

/**
 * Stores those skills of a config that exist as bodies with the same digests. Returns the digests of all skills of the
 * config.
 */
function storeSkills({ partition, reading, bodies }: Scope, { skills = [] }: Config): string[] {
  return skills.map(({ digest }) => {
    const skill = reading.get<Skill>([partition, rowSpace, "run-skill", digest]);
    if (skill !== undefined) {
      const files = [...skill.files].sort((left, right) => (left.path < right.path ? -1 : 1));
      const parts = files.flatMap(({ path, content }) => [path, content]);
      bodies.keep(JSON.stringify([skill.name, skill.description, ...parts]));
    }
    return digest;
  });
}

/** Adds the owner and the beginning of the run to each undelivered or dead-lettered `run.start`. */
function messageWalk(under: Walk["under"]): Walk {
  return {
    under,
    maxEntries: HEAVY,
    changes: ({ partition, entries, reading }) => {
      const bodies = new Bodies(partition, reading);
      const rows = entries.flatMap(({ key, value }): Change[] => {
        const row = value as { readonly message: Message };
        const { taskId, passesTo: _passesTo, ...message } = row.message as StartRun;
        if (message.type !== "run.start" || message.beginning !== undefined) return [];
        storeSkills({ partition, reading, bodies }, message.config);
        const beginning = toBeginning({ partition, reading, bodies }, row.message as StartRun, message.config);
        const { owner, ownerAddress } = ownedByTask(partition, taskId);
        return [{ op: "put", key, value: { ...row, message: { ...message, owner, ownerAddress, beginning } } }];
      });
      return [...rows, ...bodies.changes()];
    },
  };
}

function ownedByTask(partition: string, taskId: string) {
  return { owner: { kind: "task", id: taskId }, ownerAddress: { partition, kind: "task", id: taskId } };
}

/** The bodies that the rows of a slice start to refer to. Adds to the stored reference counts. */
class Bodies {
  readonly #partition: string;
  readonly #reading: Reading;
  readonly #stored = new Map<string, Uint8Array>();
  readonly #added = new Map<string, number>();

  constructor(partition: string, reading: Reading) {
    this.#partition = partition;
    this.#reading = reading;
  }

  keep(text: string): string {
    const body = Buffer.from(text);
    const digest = createHash("sha256").update(body).digest("hex");
    this.#stored.set(digest, body);
    return digest;
  }

  /** Counts a row that refers to these bodies. */
  refer(digests: readonly (string | null)[]): void {
    for (const digest of new Set(digests)) {
      if (digest !== null) this.#added.set(digest, (this.#added.get(digest) ?? 0) + 1);
    }
  }

  changes(): Change[] {
    const place = { partition: this.#partition };
    const findUse = (digest: string) => this.#reading.get<{ readonly count: number }>(this.#key("blob-use", digest));
    const isNew = ([digest]: [string, unknown]) => findUse(digest) === undefined;
    return [
      ...[...this.#stored].filter(isNew).map(([digest, body]) => putRow(place, "blob", [digest], body)),
      ...[...this.#added].map(([digest, added]) =>
        putRow(place, "blob-use", [digest], { count: (findUse(digest)?.count ?? 0) + added, unusedSinceMs: null }),
      ),
    ];
  }

  #key(table: string, digest: string) {
    return [this.#partition, rowSpace, table, digest];
  }
}

export const runInputWalks: readonly Walk[] = [
  {
    under: [rowSpace, "task-checkout"],
    maxEntries: HEAVY,
    changes: (slice) => checkoutChanges(slice, "task-checkout"),
  },
  { under: [rowSpace, "run-checkout"], maxEntries: HEAVY, changes: (slice) => checkoutChanges(slice, "run-checkout") },
  { under: [rowSpace, "run"], maxEntries: HEAVY, changes: runChanges },
  messageWalk([undeliveredSpace, "run"]),
  messageWalk([deadLetterSpace]),
  removeTable("run-config", { maxEntries: HEAVY }),
  removeTable("run-skill", { maxEntries: HEAVY }),
];

interface InputWithBases {
  readonly runId: string;
  readonly beginning: {
    readonly checkouts: readonly { readonly repository: string; readonly base: string | null }[];
  } | null;
}

/** Indexes the runs by the commits that they started from. */
export const runBaseWalks: readonly Walk[] = [
  eachRow<InputWithBases>(
    "run-input",
    ({ runId, beginning }, place) =>
      (beginning?.checkouts ?? []).flatMap(({ repository, base }) =>
        base === null ? [] : [putRow(place, "run-base", [base, repository, runId], true)],
      ),
    { maxEntries: 100 },
  ),
];
