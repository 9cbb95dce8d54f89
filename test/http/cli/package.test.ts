import { execFile, spawn } from "node:child_process";
import { on, once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import t, { type Test } from "tap";
import ts from "typescript";
import type { Asked, ReadResponse } from "../../../actors/config-pull-requests/edit/edit-worker.js";
import { packList } from "../../../actors/config-pull-requests/edit/packed-list.js";
import type { SourceTree } from "../../../actors/config-pull-requests/edit/station-edit.js";
import { EDITED_PATH, toStation, toTree, toWanted } from "../../support/station-edit.js";

/**
 * Tests that the package contains every file that its programs load, except the package's dependencies. The tests need
 * the build that `npm test` makes.
 */

const programs = "dist/bundle/programs";
const manifest: Manifest = JSON.parse(readFileSync("package.json", "utf8"));

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  /** Packages that the service loads only if a setting asks for them. */
  readonly peerDependencies: Readonly<Record<string, string>>;
}

let packing: Promise<readonly string[]> | undefined;

function packedPaths(): Promise<readonly string[]> {
  packing ??= promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]).then(({ stdout }) => {
    const [packed]: readonly { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(stdout);
    return (packed?.files ?? []).map(({ path }) => path).sort();
  });
  return packing;
}

/** Creates a folder with the package's files and its dependencies; returns its path. */
async function unpacked(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-package-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const path of await packedPaths()) cpSync(path, join(folder, path));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Returns the imports of a bundled file: modules next to it, and packages. */
function listImports(path: string): readonly string[] {
  const found = readFileSync(path, "utf8").matchAll(/\b(?:from|import|import\() ?"([@.\w][^"\s,]*)"/g);
  return [...found].map(([, name = ""]) => name);
}

t.test("it holds the service, the runner and the client alone, and everything that they load", async (t) => {
  const packed = await packedPaths();
  const paths = packed.filter((path) => !path.startsWith("dist/client/"));
  const bundled = paths.filter((path) => path.startsWith(`${programs}/`) && path.endsWith(".js"));
  t.same(
    paths.filter((path) => !bundled.includes(path)),
    [
      ...["CHANGELOG.md", "LICENSE", "README.md", "dist/bundle/pages/explorer.js", `${programs}/LICENSES.txt`],
      ...["dist/bundle/runner.mjs", "http/cli/signalbox.mjs", "package.json"],
    ],
  );
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const installed = [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys);
  const lacks = bundled
    .flatMap((path) => listImports(path).map((name) => (name.startsWith(".") ? join(dirname(path), name) : name)))
    .filter((name) => ![...bundled, ...installed, ...builtinModules].includes(name.replace(/^node:/, "")));
  t.same(lacks, []);
});

t.test("another package compiles against the client, and runs it", async (t) => {
  const folder = await unpacked(t);
  const user = mkdtempSync(join(tmpdir(), "signalbox-user-"));
  t.teardown(() => rmSync(user, { recursive: true, force: true }));
  mkdirSync(join(user, "node_modules"));
  symlinkSync(folder, join(user, "node_modules/signalbox"));
  const source = [
    'import { createClient, listAll, type Schema } from "signalbox/client";',
    'const client = createClient({ baseUrl: "http://127.0.0.1:9" });',
    'const first = (task: Schema<"Task">): string => task.title;',
    'const { title } = await client.get("/api/tasks/{taskId}", { path: { taskId: "t" } }).catch(() => ({ title: "none" }));',
    "console.log(title, typeof first, typeof listAll);",
  ];
  writeFileSync(join(user, "package.json"), '{ "type": "module" }');
  writeFileSync(join(user, "user.ts"), source.join("\n"));
  const program = ts.createProgram([join(user, "user.ts")], {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
    types: [],
    outDir: user,
  });
  t.same(
    ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    [],
  );
  program.emit();
  const { stdout } = await promisify(execFile)(process.execPath, [join(user, "user.js")]);
  t.equal(stdout, "none function function\n");
});

t.test("each package that is depended on is loaded by name, or bundled with its licence", async (t) => {
  const licences = readFileSync(`${programs}/LICENSES.txt`, "utf8");
  const bundled = (await packedPaths()).filter((path) => path.endsWith(".js"));
  const loaded = new Set(bundled.flatMap(listImports));
  const isNamed = (dependency: string): boolean => {
    const { name, version } = JSON.parse(readFileSync(join("node_modules", dependency, "package.json"), "utf8"));
    return licences.includes(`\n${name} ${version}: `);
  };
  t.same(
    Object.keys(manifest.dependencies).filter((name) => loaded.has(name) === isNamed(name)),
    // The service reads a file of this package.
    ["@tree-sitter-grammars/tree-sitter-hcl"],
  );
});

t.test("it serves, with the pages that it takes from other packages, and drains", async (t) => {
  const folder = await unpacked(t);
  const child = spawn(process.execPath, [join(folder, "http/cli/signalbox.mjs"), "serve"], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: join(folder, "data") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let url = "";
  for await (const line of createInterface(child.stdout)) {
    [, url = ""] = /listening on (http:[^"\s]+)/.exec(line) ?? [];
    if (url !== "") break;
  }
  const paths = ["/healthz", "/api/openapi.json", "/docs", "/docs/explorer.js", "/runner.mjs"];
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
  t.same(statuses, [200, 200, 200, 200, 200]);
  child.kill("SIGTERM");
  t.same(await ended, [0, null]);
});

/** Answers the requests of an edit's thread with files of a tree, until the thread returns its outcome. */
async function readOutcome(worker: Worker, tree: SourceTree): Promise<Asked> {
  // The thread may send several messages at once, so collect them all.
  for await (const [asked] of on(worker, "message") as AsyncIterable<[Asked]>) {
    if ("outcome" in asked) return asked;
    if ("parses" in asked) continue;
    const value = asked.path === null ? packList(await tree.list()) : await tree.read(asked.path);
    worker.postMessage({ id: asked.id, value } satisfies ReadResponse);
  }
  throw new Error("it says nothing");
}

t.test("its thread edits files of HCL", async (t) => {
  const folder = await unpacked(t);
  const line = (model: string) => `resource "service_line" "web" {
  key = "web"
  stations = [{ key = "plan", name = "Plan", kind = "work", model = "${model}" }]
}
`;
  const worker = new Worker(join(folder, programs, "edit-worker.js"), {
    workerData: toWanted(toStation({ model: "small" }), { model: "large" }),
    env: {},
  });
  t.teardown(() => worker.terminate());
  const files = [{ path: EDITED_PATH, before: line("small"), after: line("large") }];
  t.same(await readOutcome(worker, toTree({ [EDITED_PATH]: line("small") })), { outcome: { files } });
});

t.test("what it starts for an agent's tools pipes to the runner's socket", async (t) => {
  const folder = await unpacked(t);
  const path = join(folder, "socket");
  const server = createServer((socket) => socket.pipe(socket)).listen(path);
  t.teardown(() => server.close());
  await once(server, "listening");
  const child = spawn(process.execPath, [join(folder, programs, "bridge.js"), path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end("a call\n");
  t.equal(await text(child.stdout), "a call\n");
});
