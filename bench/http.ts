import type Uws from "uWebSockets.js";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig } from "../http/config.js";
import { createLog } from "../http/log.js";
import { type Service, startService } from "../http/service.js";
import type { Load, LoadFigures } from "./support/load.js";
import { printTable } from "./support/table.js";

const CONNECTIONS = 64;
const WARM_UP_MS = 2_000;
const DURATION_MS = 5_000;

/** The load comes from one address with one credential. */
const unlimited = { RATE_PER_CREDENTIAL: "0", RATE_PER_ADDRESS: "0" };

/** What a table's row is made of. */
interface Measured {
  readonly name: string;
  readonly figures: LoadFigures;
}

/**
 * Reads and creates a second over HTTP, against a bare uWebSockets.js handler that answers as many bytes, in the same
 * run. The load comes from another process over loopback.
 */
export async function run(): Promise<void> {
  const uws = await import("uWebSockets.js").then(
    (loaded) => loaded.default,
    () => null,
  );
  if (uws === null) {
    console.log("\nHTTP: skipped, uWebSockets.js has no binary that loads on this machine");
    return;
  }
  const reads: Measured[] = [];
  const creates: Measured[] = [];
  for (const transport of ["uws", "node"] as const) {
    const office = await openOffice(transport);
    try {
      const { port } = office.service;
      if (reads.length === 0) {
        const bare = await openBare(uws, office.readAnswer);
        reads.push({ name: "bare uWebSockets.js", figures: await loadBy(bare.port, office.read, 200) });
        creates.push({ name: "bare uWebSockets.js", figures: await loadBy(bare.port, office.create, 201) });
        bare.close();
      }
      reads.push({ name: `Signalbox over ${transport}`, figures: await loadBy(port, office.read, 200) });
      creates.push({ name: `Signalbox over ${transport}`, figures: await loadBy(port, office.create, 201) });
    } finally {
      await office.close();
    }
  }
  print(
    "HTTP reads",
    "GET of one resource by a signed-in person: authenticated, permitted, read from the store.",
    reads,
  );
  print("HTTP creates", "POST of a secret: sealed, one turn, on disk (fsync) before the answer.", creates);
}

function print(title: string, what: string, measured: readonly Measured[]): void {
  const bare = measured[0]?.figures.perSecond ?? 1;
  printTable({
    title,
    note: `${what} ${CONNECTIONS} connections on loopback, one request under way on each, ${DURATION_MS / 1_000} s.`,
    columns: ["server", "requests/s", "p50 ms", "p99 ms", "ratio to bare", "failed"],
    rows: measured.map(({ name, figures }) => [
      name,
      Math.round(figures.perSecond),
      figures.p50Ms.toFixed(2),
      figures.p99Ms.toFixed(2),
      (figures.perSecond / bare).toFixed(2),
      figures.failed,
    ]),
  });
}

async function loadBy(port: number, request: string, status: number): Promise<LoadFigures> {
  const child = fork(fileURLToPath(new URL("./support/load.js", import.meta.url)));
  const load: Load = {
    port,
    connections: CONNECTIONS,
    warmUpMs: WARM_UP_MS,
    durationMs: DURATION_MS,
    request,
    status,
  };
  child.send(load);
  const [figures] = (await once(child, "message")) as [LoadFigures];
  child.kill();
  return figures;
}

interface Office {
  readonly service: Service;
  /** The requests as bytes. */
  readonly read: string;
  readonly create: string;
  /** What a read answers. */
  readonly readAnswer: string;
  close(): Promise<void>;
}

/** A service with one workspace, and the requests of its owner. */
async function openOffice(transport: "uws" | "node"): Promise<Office> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const mails: string[] = [];
  const config = readConfig({ DATA_DIR: folder, PORT: "0", TRANSPORT: transport, LOG_LEVEL: "silent", ...unlimited });
  const log = { ...createLog("silent"), mail: (line: string) => void mails.push(line) };
  const service = await startService({ config, log });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.baseUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  await post("/api/sign-in", { email: "ada@example.com" });
  while (mails.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const opened = await post("/api/sessions", { token: mails[0]?.split("/").at(-1) });
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const made = await post(
    "/api/resources/workspaces",
    { slug: "acme", name: "Acme" },
    { cookie, "idempotency-key": "w" },
  );
  const readAnswer = await made.text();
  const { id } = JSON.parse(readAnswer) as { readonly id: string };
  const head = ["Host: 127.0.0.1", `Cookie: ${cookie}`];
  const body = JSON.stringify({ name: "secret-{n}", value: "0123456789abcdef", valueVersion: 1, hosts: [] });
  const length = body.length - "{n}".length + 9;
  const bytes = (lines: readonly string[]) => `${[...lines, ...head].join("\r\n")}\r\n\r\n`;
  return {
    service,
    readAnswer,
    read: bytes([`GET /api/resources/workspaces/${id} HTTP/1.1`]),
    create: `${bytes([
      `POST /api/resources/workspaces/${id}/secrets HTTP/1.1`,
      "Content-Type: application/json",
      "Idempotency-Key: key-{n}",
      `Content-Length: ${length}`,
    ])}${body}`,
    close: async () => {
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The least a server can do: read the request whole and answer the same bytes every time. */
async function openBare(
  uws: Pick<typeof Uws, "App" | "us_socket_local_port">,
  answer: string,
): Promise<{ readonly port: number; close(): void }> {
  const app = uws.App();
  app.get("/*", (response) => {
    response.writeHeader("content-type", "application/json").end(answer);
  });
  app.post("/*", (response) => {
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (isLast) response.writeStatus("201 Created").writeHeader("content-type", "application/json").end(answer);
    });
  });
  return new Promise((resolve) => {
    app.listen("127.0.0.1", 0, (socket) => {
      if (socket !== false) resolve({ port: uws.us_socket_local_port(socket), close: () => app.close() });
    });
  });
}
