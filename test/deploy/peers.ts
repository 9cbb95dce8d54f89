import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Pool } from "undici";
import { RunnerPeer } from "../support/runner-peer.js";
import { createClient, startTestService } from "../support/service.js";
import { signalbox } from "../support/signalbox-command.js";
import { StreamReader } from "../support/stream-reader.js";
import { until } from "../support/until.js";
import { example, HOST, PORT } from "./deployment.js";

/**
 * Tests the deployment examples with the programs that the examples configure: nginx and Caddy from Debian, and
 * systemd. npm does not provide these programs, so `.ci/run` installs the programs and then starts this file. A program
 * that is not on PATH is skipped.
 */

function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

const without = (program: string) => (isInstalled(program) ? false : `${program} is not installed`);

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-peers-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("there is no port");
  return address.port;
}

/** A proxy: its address, the command that starts it before a service, and the certificate that clients must trust. */
interface Proxy {
  /** The folder in which the proxy may write files. */
  readonly home: string;
  readonly baseUrl: string;
  readonly certificate?: string;
  /** Returns the command that runs the proxy in front of a service on this port. */
  commandFor(servicePort: number): readonly [string, ...string[]];
}

/**
 * Sends the requests of a browser, a runner and a CI job through a proxy: requests with large bodies, and WebSockets.
 */
async function passes(t: Test, { home, baseUrl, certificate, commandFor }: Proxy): Promise<void> {
  const service = await startTestService(t, { settings: { BASE_URL: baseUrl, TRUSTED_PROXIES: "127.0.0.1" } });
  const [program, ...args] = commandFor(service.port);
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? "", HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (part) => {
    said += part;
  });
  const ended = once(child, "exit");
  const pool = new Pool(baseUrl, { connect: { ca: certificate } });
  t.teardown(async () => {
    await pool.destroy();
    child.kill("SIGTERM");
    await ended;
  });
  const parts = { address: baseUrl, pool, checkDeclared: () => undefined, ...(certificate && { certificate }) };
  const toClient = (credentials: Record<string, string>) => createClient({ ...parts, credentials });
  const anonymous = toClient({});
  await until(`the proxy's start: ${said}`, async () => {
    if (child.exitCode !== null) throw new Error(said);
    return anonymous.request("GET", "/healthz").then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  const origin = { origin: baseUrl };
  const token = await service.linkFor("ada@example.com");
  const opened = await anonymous.request("POST", "/api/sessions", { token }, origin);
  t.equal(opened.status, 204, "a browser signs in, with the origin of the proxy");
  const ada = toClient({ cookie: opened.headers["set-cookie"]?.split(";")[0] ?? "", ...origin });
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const within = `/api/resources/workspaces/${workspace.id}`;
  const team = await ada.create(`${within}/teams`, { key: "core", name: "Core" });
  const stream = await StreamReader.open(ada);
  stream.subscribe(`team/${team.id}`);
  await stream.until(({ kind }) => kind === "snapshot");
  t.pass("a stream passes");
  stream.socket.terminate();
  const made = await ada.request("POST", `${within}/runner-pools`, { key: "main" }, { "idempotency-key": "pool" });
  const bearer = made.headers["service-pool-token"] ?? "";
  const peer = await RunnerPeer.join({ withToken: (one) => toClient({ authorization: `Bearer ${one}` }) }, bearer);
  await peer.beat();
  t.pass("a runner's connection passes");
  peer.cut();
  const large = { slug: "b".repeat(4e6), name: "B" };
  const refused = await ada.request("POST", "/api/resources/workspaces", large, { "idempotency-key": "large" });
  t.match(refused, { status: 422, headers: { "service-api-version": /./ } }, "the service itself reads large bodies");
  t.equal((await anonymous.request("GET", "/metrics")).status, 401, "the service knows that the client is elsewhere");
}

t.test("nginx forwards requests and WebSockets by the example", { skip: without("nginx") }, async (t) => {
  const folder = scratch(t);
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", join(folder, "key.pem")];
  const out = ["-out", join(folder, "certificate.pem")];
  execFileSync("openssl", ["req", "-x509", ...key, ...out, ...subject], { stdio: "ignore" });
  const port = await freePort();
  await passes(t, {
    home: folder,
    baseUrl: `https://127.0.0.1:${port}`,
    certificate: readFileSync(join(folder, "certificate.pem"), "utf8"),
    commandFor: (servicePort) => {
      const site = example("proxy/nginx.conf")
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
        .replaceAll("/etc/ssl/signalbox", folder)
        .replace(`127.0.0.1:${PORT}`, `127.0.0.1:${servicePort}`);
      writeFileSync(join(folder, "site.conf"), site);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; pid ${join(folder, "pid")}; error_log stderr; ${process.getuid?.() === 0 ? "user root;" : ""}
        events {} http { access_log off; ${temporary.join(" ")} include ${join(folder, "site.conf")}; }`,
      );
      return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
    },
  });
});

t.test("Caddy forwards requests and WebSockets by the example", { skip: without("caddy") }, async (t) => {
  const folder = scratch(t);
  const port = await freePort();
  await passes(t, {
    home: folder,
    baseUrl: `http://127.0.0.1:${port}`,
    commandFor: (servicePort) => {
      const site = example("proxy/Caddyfile")
        .replace(`\n${HOST} {`, `\nhttp://127.0.0.1:${port} {`)
        .replace(`127.0.0.1:${PORT}`, `127.0.0.1:${servicePort}`);
      writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${site}`);
      return ["caddy", "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
    },
  });
});

t.test("systemd accepts the units", { skip: without("systemd-analyze") }, async (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "units"));
  const units = ["signalbox.service", "signalbox-runner.service"].map((name) => {
    const path = join(folder, "units", name);
    writeFileSync(path, example(`systemd/${name}`).replaceAll("/usr/local/bin/signalbox", signalbox));
    return path;
  });
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], { encoding: "utf8" });
  t.same({ status, stderr }, { status: 0, stderr: "" });
});
