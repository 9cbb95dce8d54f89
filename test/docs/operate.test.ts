import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { SESSION_MS } from "../../actors/access/accounts/session.queries.js";
import { SIGN_IN_LINK_MS } from "../../actors/access/accounts/session.table.js";
import { INVITE_MS } from "../../actors/access/invites/invite.js";
import { MAX_REFUSALS, REFUSAL_RETENTION_MS } from "../../actors/access/trusts/trust-refusal.table.js";
import { MAX_PACK_BYTES } from "../../actors/archives/pack.js";
import { MAX_STORED_EVENTS } from "../../actors/events/catalogue.js";
import { MAX_OUTPUT_BYTES } from "../../actors/hooks/delivery/hook-answer.js";
import { MAX_RUNS, STORED_MS } from "../../actors/integration-work/actions/action-run.js";
import {
  MAX_BACKLOG,
  MAX_ENDED,
  MAX_STORED_BYTES,
  RETENTION_MS,
} from "../../actors/integration-work/intake/delivery-intake.js";
import { IDEMPOTENCY_WINDOW_MS } from "../../actors/resources/idempotency.table.js";
import { defaultRetention } from "../../actors/tables/retention.js";
import { MAX_TASK_BYTES } from "../../actors/tasks/task-attachment.js";
import { address } from "../../runtime/cells/address.js";
import { MAX_DEAD_LETTERS } from "../../runtime/messages/dead-letter-limit.js";
import { deadLetterPut } from "../../runtime/messages/dead-letters.js";
import { defaultLimits } from "../../runtime/runtime.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { openDocsScene } from "../support/docs-scene.js";
import { readSections, readTables } from "../support/page-tables.js";
import { until } from "../support/until.js";

const PAGE = "docs/operate.md";
const sections = readSections(readFileSync(PAGE, "utf8"));
const rows = (heading: string) => readTables(sections.get(heading) ?? "").flat();
const names = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

/** Adds a dead letter to the store of a stopped service. */
async function addDeadLetter(folder: string, workspaceId: string, taskId: string): Promise<void> {
  const store = await openLmdbStore({ folder });
  const message = { type: "task.close", by: "ada@example.com" };
  const to = address(workspaceId, "task", taskId);
  await store.commit([deadLetterPut({ id: "msg_1", to, message, error: "Error: it failed", atMs: 0 })]);
  await store.close();
}

t.test("an operator checks, backs up, looks into a copy, and repairs the store of a stopped service", async (t) => {
  const scene = await openDocsScene(t);
  const { service, reader, workspaceId, values } = scene;
  const taskId = await scene.open();
  const { text } = await service.anonymous.request("GET", "/metrics");
  const metrics = [...text.matchAll(/^# TYPE (signalbox_\w+) /gm)].map(([, name = ""]) => name);
  const listed = rows("Collect metrics").flatMap(([cell]) => names(cell));
  t.same(listed.sort(), metrics.sort(), "the page has each metric of the service, and no other");
  Object.assign(values, { "./data": service.folder, "PORT=8788": "PORT=0" });
  const outputs: string[] = [];
  await reader.follow(PAGE, {
    values,
    before: async ({ code }) => {
      if (code.includes(":8788/")) {
        const log = join(reader.repository, "look.log");
        const pattern = /listening on \S+:(\d+)"/;
        values[":8788/"] = `:${await until("the copy's port", () => pattern.exec(readFileSync(log, "utf8"))?.[1])}/`;
      }
      if (!code.startsWith("LETTER=")) return;
      await service.stop();
      await addDeadLetter(service.folder, workspaceId, taskId);
    },
    after: ({ code }, { out, err }) => void outputs.push(`${code}\n${out}${err}`),
  });
  const all = outputs.join("\n");
  t.match(all, /\{"status":"ok"\}\{"status":"ready"\}/);
  t.match(all, /queue +1 task queued, 0 running/);
  t.match(all, /signalbox_queued_runs\{pool="main"\} 1\n/);
  t.match(all, /copied \S+ to \.\/backup/);
  t.match(all, /\.\/backup is whole\n/);
  t.notOk(existsSync(join(reader.repository, "backup/secrets.key")), "a backup has no key");
  t.ok(existsSync(join(reader.repository, "restored/secrets.key")));
  t.match(all, /:\d+\/readyz\n\{"status":"ready"\}/);
  t.match(all, /hook resend --from 2h\nno firing of that period failed/);
  t.match(all, "msg_1 will be sent again when the service starts");
  t.match(all, /rebuilt the directory of \S+: \d+ entries/);
  t.match(all, /recounted the bodies of \S+: 0 corrected/);
  t.match(all, /compacted \S+: \d+ bytes before/);
});

/** Log lines that are not reports of turns. The test only checks that the page contains these lines. */
const OTHER_LINES = ["starting", "a mail was not sent"];

t.test("the page has each line that the service logs about work, with its level", async (t) => {
  const sources = readdirSync("actors", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const reported = sources.flatMap((name) =>
    [...readFileSync(join("actors", name), "utf8").matchAll(/level: (.*), message: "([^"]+)" \}/g)].map(
      ([, level = "", message = ""]) =>
        `${message}: ${[...level.matchAll(/"(info|warn)"/g)].map(([, one]) => one).sort()}`,
    ),
  );
  const listed = rows("Read the log").flatMap(([messages, level = ""]) =>
    names(messages).map((message) => `${message}: ${(level.match(/info|warn/g) ?? []).sort()}`),
  );
  const isOther = (line: string) => OTHER_LINES.some((name) => line.startsWith(`${name}:`));
  t.same(listed.filter((line) => !isOther(line)).sort(), [...new Set(reported)].sort());
  t.equal(listed.filter(isOther).length, OTHER_LINES.length);
});

const HOUR_MS = 60 * 60 * 1_000;
const days = (ms: number) => `${ms / (24 * HOUR_MS)} days`;
const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
const count = (number: number) => number.toLocaleString("en-US");

/** Texts that the page's row about each kind of data must contain, with the numbers from the code. */
const stored: Readonly<Record<string, readonly string[]>> = {
  "Ended tasks": [`\`RETENTION_WORK\` (${days(defaultRetention.work)})`],
  "Task attachments": [mib(MAX_TASK_BYTES)],
  "Work events": [`\`RETENTION_WORK\` (${days(defaultRetention.work)})`, `${count(MAX_STORED_EVENTS)} per team`],
  "Hook firings": [`\`RETENTION_HOOKS\` (${days(defaultRetention.hooks)})`, `${MAX_OUTPUT_BYTES / 1024} KiB`],
  "Change log": [`\`RETENTION_CHANGES\` (${days(defaultRetention.changes)})`],
  "Facts about": [`\`RETENTION_FACTS\` (${days(defaultRetention.facts)})`],
  "Webhook deliveries": [
    days(RETENTION_MS),
    `${count(MAX_ENDED)} ended, ${count(MAX_BACKLOG)} pending and ${mib(MAX_STORED_BYTES)}`,
  ],
  "Integration actions": [days(STORED_MS), count(MAX_RUNS)],
  "Preserved commits": [`${mib(MAX_PACK_BYTES)} per pack`],
  "Idempotency keys": [`${IDEMPOTENCY_WINDOW_MS / HOUR_MS} to `],
  Sessions: [`after ${days(SESSION_MS)}`],
  "Sign-in links": [`after ${SIGN_IN_LINK_MS / 60_000} minutes`],
  Invites: [`expires after ${days(INVITE_MS)}`],
  "Refusals of a trust": [`after ${days(REFUSAL_RETENTION_MS)}`, `${MAX_REFUSALS} per trust`],
  "Change feeds": [`${count(defaultLimits.feedEntries)} entries and ${mib(defaultLimits.feedBytes)}`],
  "Dead letters": [count(MAX_DEAD_LETTERS)],
};

t.test("the table of stored data has the code's times and limits", async (t) => {
  const table = rows("Data retention");
  for (const [name, texts] of Object.entries(stored)) {
    const row = table.find(([data = ""]) => data.startsWith(name))?.join(" | ") ?? "";
    for (const text of texts) t.ok(row.includes(text), `${name}: ${text} in ${row}`);
  }
});
