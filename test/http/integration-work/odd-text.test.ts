import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

/** Texts from outside that a store, key or peer cannot represent unchanged. */

const SECRET = "a key that its sender has, too";
const HALF = "\\ud83d";

const raise = {
  say: expr("item.say"),
  opens: { line: "dev", title: expr("item.title"), description: expr("item.text") },
  branch: expr("has(item.branch) ? item.branch : ''"),
  marks: { issue: { value: expr("item.id") }, kind: { value: expr("item.kind") } },
};

async function scene(t: Test) {
  const service = await startTestService(t, { clock: new ManualClock() });
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "tracker-key",
    value: SECRET,
    valueVersion: 1,
  });
  const webhook = {
    verify: { hmac: { secret: "tracker-key", header: "X-Signature" } },
    respond: { when: expr("has(body.challenge)"), body: expr("{'is': body.challenge}") },
    delivery: expr("has(body.key) ? body.key : ''"),
    events: [{ forEach: expr("body.items"), raise }],
  };
  const made = await owner.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    webhook,
  });
  const at = `/api/integrations/${made.id}/deliveries`;
  const send = (text: string) => {
    const signature = createHmac("sha256", SECRET).update(text).digest("hex");
    return service.anonymous.request("POST", at, text, { "x-signature": signature });
  };
  const worked = async (text: string) => {
    t.equal((await send(text)).status, 202);
    return until("it is worked", async () => {
      const [item] = listItems(await owner.request("GET", at));
      if (typeof item?.endedAt !== "string") return null;
      return (await owner.request("GET", `${at}/${String(item.id)}`)).body;
    });
  };
  const tasks = async () => listItems(await owner.request("GET", `/api/teams/${teamId}/tasks`));
  return { owner, at, send, worked, tasks };
}

t.test(
  "a mark that is blank, holds half of a pair or a control character, or is no finite number is left out and named",
  async (t) => {
    const { worked, tasks, owner, at } = await scene(t);
    const odd: readonly [text: string, why: string][] = [
      [`A${HALF}`, "it contains half of a surrogate pair"],
      ["A\\udc00b", "it contains half of a surrogate pair"],
      ["A\\u0000", "it contains the control character U+0000"],
      ["A\\u001bb", "it contains the control character U+001B"],
      ["A\\u0085b", "it contains the control character U+0085"],
      ["A".repeat(256), "it is longer than 255 characters"],
      ...[" ", "\\u00a0", "\\u2028", "\\ufeff", "\\r", "\\r\\n \\t"].map((id): [string, string] => [id, "it is blank"]),
    ];
    const numbers = ["1e400", "-1e400"].map((id): [string, string] => [id, "it is a number that is too large"]);
    for (const [id, why] of [...odd.map(([id, why]): [string, string] => [`"${id}"`, why]), ...numbers]) {
      const text = `{"items":[{"id":${id},"kind":"bug","say":"s","title":"T","text":""}]}`;
      const { entries } = (await worked(text)) as { readonly entries: readonly Record<string, unknown>[] };
      t.match(entries, [{ reason: `\`marks.issue\` has no value: ${why}` }], id);
      const tried = await owner.request("POST", `${at}/try`, { body: text });
      t.match(tried.body?.entries, [
        { reason: `\`marks.issue\` has no value: ${why}`, raise: { marks: [{ kind: "kind", value: "bug" }] } },
      ]);
    }
    t.same(
      (await tasks()).map(({ marks }) => marks),
      [{ kind: "bug" }],
      "its other marks are kept, and find the task",
    );
  },
);

t.test("what is well-formed is a mark as it is, to the last unit", async (t) => {
  const { worked, tasks } = await scene(t);
  const ids = [
    "\\ufffe",
    "\\uffff",
    "\\ufffd",
    "e\\u0301",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\u200b",
    "a\\u202eb",
    " a ",
    "\\ufeffb\\r\\n",
    "A".repeat(255),
  ];
  for (const id of ids) {
    await worked(`{"items":[{"id":"${id}","kind":"","say":"s","title":"T","text":""}]}`);
    const { entries } = (await worked(`{"items":[{"id":"${id}","kind":"","say":"again","title":"T","text":""}]}`)) as {
      readonly entries: readonly Record<string, unknown>[];
    };
    t.match(entries, [{ outcome: "said", reason: null }], id);
  }
  const found = (await tasks()).map(({ marks }) => (marks as { readonly issue: string }).issue);
  t.same(new Set(found), new Set(ids.map((id) => (JSON.parse(`"${id}"`) as string).trim())));
});

t.test("anywhere else half of a pair becomes one U+FFFD, before it is stored, shown or sent", async (t) => {
  const { owner, send, worked, tasks } = await scene(t);
  const text = `{"items":[{"id":"1","kind":"","say":"say ${HALF}!","title":"T ${HALF} ${HALF}","text":"d \\udc00"}],"key":"k"}`;
  const shown = await worked(text);
  t.equal((shown as { readonly body: string }).body, text, "what came is kept as it came");
  const [task] = await tasks();
  t.match(task, { title: "T \ufffd \ufffd" });
  const read = await owner.request("GET", `/api/tasks/${String(task?.id)}`);
  t.match(read.body, { title: "T \ufffd \ufffd", description: "d \ufffd" });
  t.notMatch(read.text, /\\ud[89a-f]/i);
  await worked(text.replace('"k"', '"k2"'));
  const said = await owner.request("GET", `/api/tasks/${String(task?.id)}`);
  t.match(said.text, /say \ufffd!/);
  const challenged = await send(`{"challenge":"c ${HALF}"}`);
  t.equal(challenged.text, JSON.stringify({ is: "c \ufffd" }));
  // Keys that differ only in their surrogate halves are different keys.
  for (const key of ["a\\ud800", "a\\ud801", "a\\ufffd"]) {
    const taken = (await worked(`{"items":[],"key":"${key}"}`)) as { readonly repeated: number };
    t.equal(taken.repeated, 0, key);
  }
});
