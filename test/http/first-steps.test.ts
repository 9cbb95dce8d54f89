import { readFile } from "node:fs/promises";
import t from "tap";
import { type Reply, startTestService } from "../support/service.js";

t.test(
  "the first steps of the main page lead from a sign-in to a queued run and an integration, as they stand there",
  async (t) => {
    const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com,api.linear.app" } });
    const page = await readFile("README.md", "utf8");
    const steps = [...page.matchAll(/^ {4}api (?:-i )?\$S(\/[^\n]*?)(?: -d (?:'([^']*)'|@(\S+)))?$/gm)];
    t.equal(steps.length, 24);
    const known: Record<string, string> = {
      "<owner/name>": "acme/app",
      "<24 to 64 bytes in base64>": Buffer.alloc(32, 7).toString("base64"),
    };
    const fill = (text: string) => text.replace(/<[\w/ ]+>/g, (name) => known[name] ?? name);
    const names: Record<string, string> = { ws: "workspace", int: "integration", usr: "user" };
    const remember = ({ headers, body }: Reply) => {
      for (const id of [body?.id, body?.runId, body?.userId].map(String)) {
        const [prefix = ""] = id.split("_");
        known[`<${names[prefix] ?? prefix} id>`] = id;
      }
      if (headers["service-pool-token"] !== undefined) known["pool token"] = headers["service-pool-token"];
    };
    let client = service.anonymous;
    for (const [index, [, path = "", written, file]] of steps.entries()) {
      const at = fill(path);
      const body = file === undefined ? written : await readFile(file, "utf8");
      const method = body === undefined ? "GET" : "POST";
      const reply = await client.request(method, at, body && fill(body), { "idempotency-key": `step-${index}` });
      if (path.includes("<approval id>")) {
        t.equal(reply.status, 404, `${at}: no agent has asked for anything`);
        continue;
      }
      t.ok(reply.status >= 200 && reply.status < 300, `${method} ${at} answering ${reply.status} ${reply.text}`);
      if (path === "/api/sign-in") known["<token>"] = (await service.logged(/\/sign-in\/([\w-]{43})/))[1] ?? "";
      const session = /session=([\w-]+)/.exec(reply.headers["set-cookie"] ?? "")?.[1];
      if (session !== undefined) client = service.withSession(session);
      remember(reply);
      if (path === "/api/runs/<run id>") {
        t.match(reply.body, { state: "queued", waiting: { reason: "No runner of pool main is connected." } });
      }
    }
    t.match(known["pool token"], /^[\w-]{43}$/);
  },
);
