import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { readRelease } from "../../../http/wire/release.js";
import { layRepository } from "../../support/repository.js";
import { startTestService, type TestService } from "../../support/service.js";
import { createShipped, shippedIntegration } from "../../support/shipped-integrations.js";
import { openWorkplace } from "../../support/workplace.js";

/** Tests the runner that the service hands out as one file, in a folder without other files. */

/** Opens the tools of the tracker as an MCP client, and writes the server's answer into the checkout. */
const AGENT = `
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { mcpServers } = JSON.parse(readFileSync(process.env.SIGNALBOX_MCP_CONFIG, "utf8"));
const { command, args } = mcpServers.tracker;
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agent", version: "1" } };
child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) + "\\n");
for await (const line of createInterface(child.stdout)) {
  writeFileSync("server.json", line);
  break;
}
child.kill();
`;

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-one-file-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Downloads the runner into a folder, compressed; returns its path. */
async function download({ baseUrl }: Pick<TestService, "baseUrl">, folder: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/runner.mjs`, { headers: { "accept-encoding": "gzip" } });
  const path = join(folder, "runner.mjs");
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

t.test(
  "its SHA-256 is in a header, and beside it as sha256sum reads it; a current copy is not sent again",
  async (t) => {
    const { anonymous, baseUrl } = await startTestService(t);
    const { status, headers, text: program } = await anonymous.request("GET", "/runner.mjs");
    t.match({ status, type: headers["content-type"] }, { status: 200, type: /^text\/javascript/ });
    const digest = createHash("sha256").update(program).digest("hex");
    t.equal(headers["service-sha256"], digest);
    t.equal((await anonymous.request("GET", "/runner.mjs.sha256")).text, `${digest}  runner.mjs\n`);
    const again = { "if-none-match": `W/${headers.etag}, "other"` };
    t.match(await anonymous.request("GET", "/runner.mjs", undefined, again), { status: 304, text: "" });
    const packed = await fetch(`${baseUrl}/runner.mjs`, { headers: { "accept-encoding": "gzip" } });
    t.same(
      ["content-encoding", "vary"].map((name) => packed.headers.get(name)),
      ["gzip", "accept-encoding"],
    );
    t.not(packed.headers.get("etag"), headers.etag, "each coding has its own tag");
    t.equal(packed.headers.get("service-sha256"), digest);
    t.equal(await packed.text(), program);
  },
);

t.test("with Node and git alone it joins, works a task, and gives its agent the tools", async (t) => {
  const outside = "127.0.0.1:9";
  const place = await openWorkplace(t, {
    settings: { OUTBOUND_ALLOW: `http://${outside}` },
    stations: [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }],
  });
  const { service, ada, teamId } = place;
  const shipped = shippedIntegration("tracker/integration.json", { "api.linear.app": outside });
  const secrets = { "tracker-key": "key", "tracker-webhook": "secret" };
  await createShipped(ada, place, shipped, secrets);
  await ada.create(`/api/resources/teams/${teamId}/lines`, {
    key: "tools",
    name: "Tools",
    repositories: [{ name: "acme/app" }],
    stations: [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: ["tracker.read_issue"] }],
  });
  const folder = emptyFolder(t);
  const elsewhere = emptyFolder(t);
  layRepository(join(elsewhere, "acme/app"));
  writeFileSync(join(elsewhere, "agent.mjs"), AGENT);
  mkdirSync(join(elsewhere, "home"));
  const program = await download(service, folder);
  const args = ["--url", service.baseUrl, "--git-url", join(elsewhere, "{name}")];
  const child = spawn(process.execPath, [program, ...args, "--", process.execPath, join(elsewhere, "agent.mjs")], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: join(elsewhere, "home"), SIGNALBOX_POOL_TOKEN: place.token },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const taskId = await place.open({ line: "tools" });
  await place.until(async () => (await place.task(taskId)).state === "done");
  const [run] = await place.runs(taskId);
  const { text: diff } = await ada.request("GET", `/api/runs/${run?.id}/diff`);
  t.match(diff, /server\.json.*serverInfo/s);
  child.kill("SIGTERM");
  t.same(await ended, [0, null]);
  t.same(readdirSync(folder), ["runner.mjs"]);
});

t.test("it says its release and its options, and is the bridge that it starts for an agent's tools", async (t) => {
  const folder = emptyFolder(t);
  const program = join(folder, "runner.mjs");
  writeFileSync(program, readFileSync("dist/bundle/runner.mjs"));
  const run = promisify(execFile);
  t.equal((await run(process.execPath, [program, "--version"])).stdout, `${readRelease()}\n`);
  t.match((await run(process.execPath, [program, "--help"])).stdout, /^Usage: node runner\.mjs .*--pool-token/s);
  const path = join(folder, "socket");
  const server = createServer((socket) => socket.pipe(socket)).listen(path);
  t.teardown(() => server.close());
  await once(server, "listening");
  const bridge = spawn(process.execPath, [program, "--bridge", path], { stdio: ["pipe", "pipe", "inherit"] });
  bridge.stdin.end("a call\n");
  t.equal(await text(bridge.stdout), "a call\n");
});
