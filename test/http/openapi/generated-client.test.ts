import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import openapiTypescript, { astToString } from "openapi-typescript";
import t from "tap";
import { startTestService } from "../../support/service.js";

/** A user's program that relies only on code generated from the API document. */
const program = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const { BASE_URL = "", COOKIE = "" } = process.env;
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { cookie: COOKIE } });
const key = (name: string) => ({ "Idempotency-Key": name });

function must<Data>(answer: { data?: Data; error?: unknown; response: Response }): Data {
  if (answer.data === undefined) throw new Error(answer.response.status + " " + JSON.stringify(answer.error));
  return answer.data;
}

const workspace = must(await client.POST("/api/resources/workspaces", {
  params: { header: key("w") },
  body: { slug: "acme", name: "Acme" },
}));
const team = must(await client.POST("/api/resources/workspaces/{workspaceId}/teams", {
  params: { path: { workspaceId: workspace.id }, header: key("t") },
  body: { key: "core", name: "Core" },
}));
const lineBody: components["schemas"]["LineInput"] = {
  key: "dev",
  name: "Dev",
  stations: [{ key: "work", name: "Work", kind: "work", passesTo: ["review"] }, { key: "review", name: "Review", kind: "review" }],
};
const line: components["schemas"]["Line"] = must(await client.POST("/api/resources/teams/{teamId}/lines", {
  params: { path: { teamId: team.id }, header: key("l") },
  body: lineBody,
}));
const minutes: number | undefined = line.stations[0]?.timeoutMinutes;
const stale = await client.PUT("/api/resources/lines/{id}", {
  params: { path: { id: line.id }, header: { "If-Match": '"7"' } },
  body: { ...lineBody, name: "Development" },
});
const problem: components["schemas"]["Problem"] | undefined = stale.error;
const replaced = must(await client.PUT("/api/resources/lines/{id}", {
  params: { path: { id: line.id }, header: { "If-Match": '"1"' } },
  body: { ...line, name: "Development" },
}));
const imported = must(await client.GET("/api/resources/workspaces/{workspaceId}/lines/import", {
  params: { path: { workspaceId: workspace.id }, query: { address: "core/dev" } },
}));
const task = must(await client.POST("/api/teams/{teamId}/tasks", {
  params: { path: { teamId: team.id } },
  body: { title: "Mend the build", line: "dev" },
}));
const tasks = must(await client.GET("/api/teams/{teamId}/tasks", {
  params: { path: { teamId: team.id }, query: { state: "queued", limit: 10 } },
}));
const me = must(await client.GET("/api/sessions/me"));
const deleted = await client.DELETE("/api/resources/lines/{id}", {
  params: { path: { id: line.id }, header: { "If-Match": '"2"' } },
});
console.log(JSON.stringify({
  minutes,
  problem: problem?.type,
  currentVersion: problem?.currentVersion,
  version: replaced.version,
  name: imported.name,
  task: tasks.items.map(({ id }) => id === task.id),
  role: me.workspaces[0]?.role,
  inUse: deleted.error?.type,
}));
`;

const mistakes = `
import createClient from "openapi-fetch";
import type { paths } from "./api.js";
const client = createClient<paths>({ baseUrl: "" });
await client.POST("/api/resources/workspaces", { params: { header: { "Idempotency-Key": "k" } }, body: { slug: "a" } });
await client.POST("/api/resources/workspaces", { body: { slug: "a", name: "A" } });
await client.GET("/api/no-such-thing");
`;

const options = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  exactOptionalPropertyTypes: true,
  target: "ES2022",
  lib: ["ES2023", "DOM"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: ["node"],
  outDir: "made",
  rootDir: ".",
  skipLibCheck: true,
};

function run(file: string, args: readonly string[], env: Record<string, string>, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env: { PATH: process.env.PATH ?? "", ...env } }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : `failed: ${stdout}${stderr}`),
    );
  });
}

t.test("what openapi-typescript makes of the document compiles strictly and drives the service", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const document = await service.anonymous.request("GET", "/api/openapi.json");
  const folder = await mkdtemp(join(tmpdir(), "signalbox-client-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const require = createRequire(import.meta.url);
  const typescript = dirname(require.resolve("typescript/package.json"));
  await symlink(dirname(typescript), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  // Without this option, a field with a default becomes required in bodies.
  const types = astToString(await openapiTypescript(document.text, { defaultNonNullable: false }));
  await writeFile(join(folder, "api.ts"), types);
  await writeFile(join(folder, "program.ts"), program);
  await writeFile(join(folder, "mistakes.ts"), mistakes);
  const config = { compilerOptions: options, files: ["program.ts", "mistakes.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const found = await run(
    process.execPath,
    [join(typescript, "bin", "tsc"), "-p", ".", "--pretty", "false"],
    {},
    folder,
  );
  t.same(
    new Set(found.match(/\w+\.ts\(\d+/g)),
    new Set(["mistakes.ts(5", "mistakes.ts(6", "mistakes.ts(7"]),
    `only a missing field, a missing header and an unknown path do not compile: ${found.slice(0, 2_000)}`,
  );

  const env = { BASE_URL: service.baseUrl, COOKIE: ada.credentials.cookie ?? "" };
  const said = await run(process.execPath, [join("made", "program.js")], env, folder);
  t.same(said.startsWith("{") ? JSON.parse(said) : said, {
    minutes: 60,
    problem: "urn:service:problem:moved-on",
    currentVersion: 1,
    version: 2,
    name: "Development",
    task: [true],
    role: "owner",
    inUse: "urn:service:problem:in-use",
  });
});
