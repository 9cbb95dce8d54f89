import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { workEventNames, workEvents } from "../../actors/events/catalogue.js";
import { eventTexts } from "../../actors/events/event-schema.js";
import { isRetried } from "../../actors/hooks/delivery/retry-policy.js";
import { hookOutcomes } from "../../actors/hooks/hook-report.js";
import { webhookHeaders } from "../../http/openapi/webhooks.js";
import { type DocsScene, openDocsScene } from "../support/docs-scene.js";
import type { BlockEnd } from "../support/reader.js";
import { listItems } from "../support/resources.js";
import { until } from "../support/until.js";

/** A reader creates hooks and receivers as the page says. The service sends the receivers real requests. */

const PAGE = "docs/hooks.md";

/** The ports of the page's receivers. */
const PAGE_PORTS = ["9000", "9001", "9002", "9003", "9004", "9005"];

/** Returns a free port for each port of the page. */
async function findPorts(): Promise<Readonly<Record<string, string>>> {
  const ports = PAGE_PORTS.map(async (port) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return [port, server] as const;
  });
  const open = await Promise.all(ports);
  const found = open.map(([port, server]) => [port, String(Object(server.address()).port)]);
  await Promise.all(open.map(([, server]) => new Promise((resolve) => server.close(resolve))));
  return Object.fromEntries(found);
}

async function openScene(t: Test, ports: Readonly<Record<string, string>>): Promise<DocsScene> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const receivers = Object.values(ports).map((port) => `http://127.0.0.1:${port}`);
  const settings = {
    OUTBOUND_ALLOW: receivers.join(","),
    HOOK_SIGNING_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    HOOK_ROTATION_HOURS: "24",
  };
  const scene = await openDocsScene(t, { settings });
  // The libraries that the page's receivers import.
  const modules = join(scene.reader.repository, "node_modules");
  mkdirSync(modules);
  for (const name of ["standardwebhooks", "jose"]) {
    symlinkSync(join(process.cwd(), "node_modules", name), join(modules, name));
  }
  return scene;
}

interface Firing {
  readonly id: string;
  readonly hook: string;
  readonly state: string;
  readonly test: boolean;
  readonly attempts: readonly { readonly status: number | null; readonly requestBody: string }[];
}

/** Resolves with the newest firing of a hook on a real event, once the firing has ended. */
async function findEnded({ ada, teamId }: DocsScene, hook: string): Promise<Firing> {
  return until(`a firing of ${hook}`, async () => {
    const path = `/api/teams/${teamId}/hook-occurrences?limit=200&hook=${hook}`;
    const [newest] = (listItems(await ada.request("GET", path)) as unknown as Firing[]).filter((one) => !one.test);
    return newest !== undefined && /^(delivered|refused|failed)$/.test(newest.state) ? newest : undefined;
  });
}

/**
 * Checks that a receiver rejects a request with a wrong signature, a request without a signature, and an old request.
 */
async function checkForgeries(t: Test, port: string | undefined): Promise<void> {
  const now = Math.floor(Date.now() / 1_000);
  const signed = { "webhook-id": "msg_1", "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=" };
  const forged: readonly Readonly<Record<string, string>>[] = [
    { ...signed, "webhook-timestamp": String(now) },
    { ...signed, "webhook-timestamp": String(now - 3_600) },
    {},
  ];
  for (const headers of forged) {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: "{}" });
    t.equal(status, 401, `a forged request to port ${port}`);
  }
}

/** Creates a hook whose receiver rejects its signature, and resolves when its firing has failed. */
async function failOnce(scene: DocsScene, port: string | undefined): Promise<void> {
  const signing = { secret: `whsec_${Buffer.alloc(32, 1).toString("base64")}`, secretVersion: 1 };
  const steps = [{ name: "send", request: { url: `http://127.0.0.1:${port}` } }];
  const hook = { key: "wrong", on: "task.opened", steps, signing };
  await scene.ada.create(`/api/resources/teams/${scene.teamId}/hooks`, hook);
  await scene.open({ title: "Sent with a wrong secret" });
  await findEnded(scene, "wrong");
}

/** Checks of the page's blocks. Each check applies to the blocks that contain the check's key. */
type Checks = Readonly<Record<string, (end: BlockEnd) => unknown>>;

function listChecks(t: Test, scene: DocsScene, ports: Readonly<Record<string, string>>): Checks {
  const { ada, teamId } = scene;
  const receivers: string[] = [];
  let taskId = "";
  const isDelivered = async (hook: string, status: number) =>
    t.match(await findEnded(scene, hook), { state: "delivered", attempts: [{ status }] }, hook);
  return {
    "node tell.mjs": () => checkForgeries(t, ports["9000"]),
    "python3 receiver.py": () => {
      receivers.push("tell-python");
      return checkForgeries(t, ports["9001"]);
    },
    "go run receiver.go": () => {
      receivers.push("tell-go");
      return checkForgeries(t, ports["9002"]);
    },
    "node audit.mjs": () => checkForgeries(t, ports["9005"]),
    "signalbox hook test tell": ({ out }) => t.match(out, /^tell: delivered, the receiver answered 200\n/),
    "Update the dependencies": async () => {
      await isDelivered("tell", 200);
      for (const hook of receivers) await isDelivered(hook, 204);
    },
    "signalbox task open": ({ out }) => {
      taskId = /task_\w+/.exec(out)?.[0] ?? "";
    },
    "Migrate the production": async () => {
      t.match(await findEnded(scene, "gate"), { state: "refused" });
      await isDelivered("chat", 200);
      const [attempt] = (await findEnded(scene, "chat")).attempts;
      t.match(attempt?.requestBody, /"title":"Migrate the production database \(Work\)"/);
      await scene.until(async () => (await scene.task(taskId)).state === "inbox");
    },
    "signalbox task show": ({ out }) =>
      t.match(out, /^asks {6}Hook gate refused\. Reason: A person must work on production\.$/m),
    "signalbox task move": async () => {
      await isDelivered("note", 200);
      t.match((await scene.task(taskId)).notes, [{ from: "hook note", text: "Now at review." }]);
    },
    "signalbox hook test gate": ({ out }) =>
      t.match(out, /^gate: delivered, the receiver answered 200\n/, "both secrets"),
    "signalbox hook test audit": ({ out }) => t.match(out, /^audit: delivered, the receiver answered 204\n/),
    "signalbox hook show\n": ({ out }) =>
      t.match(out, /^audit: delivered[\s\S]*\ncurl 'http:[\s\S]*authorization: \(left out\)/),
    "signalbox hook why": ({ out }) => {
      t.match(out, /^audit +no +it fires on run\.ended$/m);
      t.match(out, /^chat +yes +delivered: occ_\w+-\w+$/m);
    },
    "signalbox hook resend": async ({ out }) => {
      t.match(out, "resending 1 failed firing, 20 per second\n");
      const path = `/api/teams/${teamId}/hook-occurrences?hook=wrong`;
      await until("the resent firing", async () => listItems(await ada.request("GET", path)).length === 2);
      // The output of the programs in the background.
      const printed = async () => (await scene.reader.run('cat "$HOME"/../*.log')).out;
      await until("hook listen to forward a request", async () =>
        / tell task\.opened task_\w+ answered 200/.test(await printed()),
      );
      t.match(await printed(), /^task\.opened Update the dependencies$/m);
    },
  };
}

t.test("a reader verifies requests in each language, refuses a run, adds a note, and finds out why", async (t) => {
  const ports = await findPorts();
  const scene = await openScene(t, ports);
  const checks = Object.entries(listChecks(t, scene, ports));
  await scene.reader.follow(PAGE, {
    values: { ...scene.values, ...ports },
    before: async ({ code }) => {
      // Start the runner that claims the tasks of this block and of later blocks.
      if (code.includes("Migrate the production")) await scene.runner({ slots: 10 });
      if (code.includes("signalbox hook resend")) await failOnce(scene, ports["9000"]);
    },
    after: async ({ code, isBackground }, end) => {
      if (isBackground) t.match(end.out, /^(listening on port \d+|forwarding the hooks of acme\/core) ?/, code);
      for (const [text, check] of checks) if (`${code}\n`.includes(text)) await check(end);
    },
  });
});

/** Returns the rows of the page's table whose first header is `header`. Each row has its cells by the cell's header. */
function readTable(header: string): readonly Readonly<Record<string, string>>[] {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${header} |`));
  const to = lines.findIndex((line, index) => index > from && !line.startsWith("|"));
  const rows = lines.slice(from, to).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [headers = [], , ...others] = rows;
  return others.map((cells) => Object.fromEntries(headers.map((name, index) => [name, cells[index] ?? ""])));
}

const toNames = (text: string | undefined) => [...(text ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name);

t.test("the page has all events, with their timing, their meaning and their fields", async (t) => {
  const rows = readTable("`on`").map(({ "`on`": on, Timing, When, ...others }) => ({
    on: toNames(on)[0],
    timing: Timing,
    when: When,
    fields: toNames(others["Fields of `event`, besides `at`"]).sort(),
  }));
  const wanted = workEventNames.map((on) => ({
    on,
    timing: workEvents[on].timing,
    when: eventTexts[on].when,
    fields: Object.keys(workEvents[on].fields).sort(),
  }));
  t.same(rows, wanted);
});

t.test("the page has all failures, and which of them are retried", async (t) => {
  const rows = readTable("Failure").map(({ Failure, Retried }) => [toNames(Failure)[0], Retried]);
  const codes = hookOutcomes.flatMap((code) => (code === "delivered" ? [] : [code]));
  t.same(rows.sort(), codes.map((code) => [code, isRetried(code) ? "yes" : "no"]).sort());
});

t.test("the page has all headers of the OpenAPI document", async (t) => {
  const found = readTable("Header").flatMap(({ Header }) => toNames(Header));
  t.same(found.sort(), [...webhookHeaders].sort());
});
