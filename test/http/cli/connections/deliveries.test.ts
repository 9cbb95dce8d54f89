import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type CommandScene, openCommandScene, testCommands } from "../../../support/command-cases.js";
import { expr } from "../../../support/integration.js";
import { listItems } from "../../../support/resources.js";
import type { Reply } from "../../../support/service.js";
import { until } from "../../../support/until.js";
import { deliveryCases } from "./deliveries-cases.js";

const SECRET = "a key that its sender has, too";

const webhook = {
  verify: { hmac: { secret: "tracker-key", header: "X-Signature", prefix: "sha256=" } },
  delivery: expr('headers["x-delivery"]'),
  route: { by: expr("body.project"), to: { One: { line: "dev" } } },
  events: [
    {
      forEach: expr("body.issues"),
      when: expr("item.open"),
      raise: {
        say: expr("item.title"),
        opens: { title: expr("item.title") },
        marks: { issue: { value: expr("string(item.id)") } },
      },
    },
  ],
};

interface Scene extends CommandScene {
  /** Sends a delivery, and waits for its end. */
  readonly send: (body: unknown, headers?: Record<string, string>) => Promise<Reply>;
}

async function openScene(t: Test): Promise<Scene> {
  const scene = await openCommandScene(t);
  const { person, service, teamId, workspaceId } = scene;
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await person.create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations });
  const secret = { name: "tracker-key", value: SECRET, valueVersion: 1 };
  await person.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
  const fields = { integration: "tracker", name: "Tracker", webhook };
  const { id } = await person.create(`/api/resources/teams/${teamId}/integrations`, fields);
  const at = `/api/integrations/${id}/deliveries`;
  const send = async (body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signature = `sha256=${createHmac("sha256", SECRET).update(text).digest("hex")}`;
    const sent = await service.anonymous.request("POST", at, text, { "x-signature": signature, ...headers });
    await until("all deliveries have ended", async () =>
      listItems(await person.request("GET", at)).every(({ endedAt }) => endedAt !== null),
    );
    return sent;
  };
  return { ...scene, send };
}

t.test("every command of deliveries", async (t) => {
  const scene = await openScene(t);
  const issues = [{ id: 1, title: "The tests fail", open: true }];
  await scene.send({ project: "One", issues }, { "x-delivery": "d1", "x-kind": "issue" });
  await testCommands(t, scene, deliveryCases);
});

t.test(
  "deliveries: what was refused, is unrouted or is not there is said, and a period is processed again",
  async (t) => {
    const { signalbox, send } = await openScene(t);
    t.match(await signalbox.run(["delivery", "list"]), { code: 0, out: "", err: /tracker has no deliveries/ });
    t.match(await signalbox.run(["delivery", "show"]), { code: 1, err: /the integration tracker has no deliveries/ });
    await send({ project: "One" }, { "x-signature": "sha256=0000" });
    t.match(await signalbox.run(["delivery", "list"]), {
      err: /1 delivery was rejected, the last: \S+Z, \S+-signature/,
    });
    await send("\u001b[2J is no JSON");
    const unreadable = await signalbox.run(["delivery", "show"]);
    t.match(unreadable, { code: 0, out: /\n \[2J is no JSON$/ });
    t.notOk(unreadable.out.includes("\u001b"));
    await send({ project: "Two", issues: [{ id: 1, title: "Lost", open: true }] });
    const unrouted = await signalbox.run(["delivery", "show"]);
    t.match(unrouted, { code: 0, out: /^unrouted: \S/ });
    t.match(await signalbox.run(["delivery", "list"]), { code: 0, out: /unrouted/ });
    const [, id = ""] = /delivery +(dlv_\S+)/.exec(unrouted.out) ?? [];
    t.match(await signalbox.run(["delivery", "show", id.slice(4, -3).toLowerCase()]), { code: 0, out: id });
    t.match(await signalbox.run(["delivery", "redeliver", id]), { code: 1, out: /^unrouted/ });
    t.match(await signalbox.run(["delivery", "show", "dlv_7ZZ"]), {
      code: 1,
      err: /there is no delivery dlv_7ZZ in the team/,
    });
    t.match(await signalbox.run(["delivery", "show", "tell"]), { code: 1, err: /tell is not the id of a delivery/ });
    t.match(await signalbox.run(["delivery", "list", "none"]), {
      code: 1,
      err: /has no integration none; it has: tracker/,
    });
    t.match(await signalbox.run(["delivery", "redeliver"]), {
      code: 64,
      err: /give a delivery, or a period with --from/,
    });
    const again = ["delivery", "redeliver", "--integration", "tracker"];
    t.match(await signalbox.run([...again, "--from", "1h"]), {
      code: 0,
      out: /^reprocessing \d deliver(y|ies), 20 per second$/,
    });
    t.match(await signalbox.run([...again, "--from", "2d", "--to", "1d", "--state", "done", "ignored"]), {
      code: 0,
      out: "nothing to reprocess: the period has no done or ignored delivery with a stored body",
    });
  },
);

t.test("try: a file, nothing raised and why, and a project without a line", async (t) => {
  const { signalbox } = await openScene(t);
  const { home, run } = signalbox;
  writeFileSync(
    join(home, "closed.json"),
    '{"project": "One", "issues": [{"id": 1, "title": "Closed", "open": false}]}',
  );
  t.match(await run(["delivery", "try", "closed.json"]), { code: 0, out: /event 0, entry 0: raises nothing/ });
  t.match(await run(["delivery", "try", "none.json"]), { code: 64, err: /there is no file none\.json$/ });
  t.match(await run(["delivery", "try"], { answers: [] }), { code: 64, err: /give a file with the body, or -/ });
  t.match(await run(["delivery", "try", "-"], { input: '{"project": "Two", "issues": []}' }), {
    code: 1,
    out: /\nunrouted: /,
  });
});
