import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { format } from "@cdktn/hcl-tools";
import { parse } from "@cdktn/hcl2json";
import t, { type Test } from "tap";
import { z } from "zod";
import { toAnswers } from "../../../http/wire/route.js";
import { applyModule, type ModuleFile, readModule } from "../../support/hcl-module.js";
import { RawConnection } from "../../support/raw-connection.js";
import { bearer, listItems } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { type Client, startTestService, type TestService } from "../../support/service.js";
import {
  hostile,
  kinds,
  secret,
  settings,
  token,
  valueFor,
  weirdPath,
  wholeWorkspace,
} from "../../support/whole-workspace.js";

/**
 * Creates two lines: the stations of one use the default `passesTo`, and the stations of the other pass tasks to no
 * station.
 */
async function readLines(owner: Client, teamId: string): Promise<void> {
  const work = { key: "work", name: "Work", kind: "work" };
  const review = { key: "review", name: "Review", kind: "review" };
  const lines = `/api/resources/teams/${teamId}/lines`;
  const filled = await owner.create(lines, { key: "passes-on", name: "Passes on", stations: [work, review] });
  const none = { key: "ends", name: "Ends", stations: [{ ...work, passesTo: [] }, review] };
  const passes = [filled, await owner.create(lines, none)].map(({ stations }) => stations);
  t.match(passes, [
    [{ passesTo: ["review"] }, {}],
    [{ passesTo: { length: 0 } }, {}],
  ]);
}

async function readExport(client: Client, workspaceId: string): Promise<readonly ModuleFile[]> {
  const reply = await client.request("GET", `/api/resources/workspaces/${workspaceId}/export`);
  if (reply.status !== 200) throw new Error(reply.text);
  return JSON.parse(reply.text).files;
}

async function exported(t: Test): Promise<{ service: TestService; owner: Client; id: string }> {
  const service = await startTestService(t, { settings });
  const owner = await service.signIn("owner@example.com");
  return { service, owner, id: await wholeWorkspace(owner) };
}

t.test(
  "what is exported, made anew in an empty workspace and exported again, differs in nothing but ids",
  async (t) => {
    const { owner, id } = await exported(t);
    const [team] = listItems(await owner.request("GET", `/api/resources/workspaces/${id}/teams`));
    await readLines(owner, String(team?.id));
    const files = await readExport(owner, id);
    const module = await readModule(files, kinds);
    t.same(
      new Set(module.resources.map(({ kind }) => kind.name)),
      new Set(kinds.filter(({ hcl }) => hcl !== null).map(({ name }) => name)),
      "every exported kind has part in it",
    );

    const other = await (await startTestService(t, { settings })).signIn("someone.else@example.com");
    const made = await applyModule(module, other, valueFor);
    const again = await readExport(other, String(made.get("service_workspace.acme")?.id));
    const newIds = new Map([[id, String(made.get("service_workspace.acme")?.id)]]);
    t.same(
      again,
      files.map(({ path, content }) => ({ path, content: renamed(content, newIds) })),
    );
    t.not(JSON.stringify(again), JSON.stringify(files), "the ids do differ");
  },
);

function renamed(content: string, ids: ReadonlyMap<string, string>): string {
  return [...ids].reduce((text, [from, to]) => text.replaceAll(from, to), content);
}

t.test("an export is the same bytes each time, in canonical form, its files in the order of their paths", async (t) => {
  const { owner, id } = await exported(t);
  const path = `/api/resources/workspaces/${id}/export`;
  const first = await owner.request("GET", path);
  t.equal((await owner.request("GET", path)).text, first.text);
  const files = await readExport(owner, id);
  t.same(
    files.map(({ path }) => path),
    [
      ...["judges/app/main-line/build.md", "judges/web/main-line/build.md", "main.tf"],
      ...["prompts/app/main-line/build.md", "prompts/web/main-line/build.md"],
      ...["app", "web"].flatMap((team) => ["SKILL.md", weirdPath].map((path) => `skills/${team}/greet/${path}`)),
      "variables.tf",
    ],
  );
  for (const { path, content } of files.filter(({ path }) => path.endsWith(".tf"))) {
    t.equal(await format(content), content, `${path} is canonical`);
  }
  t.equal(files.find(({ path }) => path === "prompts/app/main-line/build.md")?.content, hostile);
});

t.test(
  "everything is adopted by an import, refers by expressions, and holds no value that is never read back",
  async (t) => {
    const { owner, id } = await exported(t);
    const files = await readExport(owner, id);
    const module = await readModule(files, kinds);
    t.same(
      [...module.imports.keys()].sort(),
      module.resources.map(({ kind, name }) => `service_${kind.name.replaceAll("-", "_")}.${name}`).sort(),
    );
    t.equal(module.imports.get("service_line.web_main-line"), `${id}/web/main-line`);
    t.equal(module.imports.get("service_workspace.acme"), "acme");
    t.same([...module.variables].sort(), [
      ...["hook_app_tell_signing_secret", "hook_web_tell_signing_secret"],
      ...["runner_pool__1-linux_token", "secret_deploy_value", "secret_tracker_value"],
    ]);
    const text = JSON.stringify(files);
    for (const value of [secret, token]) t.notOk(text.includes(value));
    t.notMatch(
      text,
      /(team|line|sta|pool|sec|hook|int|skill|prof|wr)_[0-9A-HJKMNP-TV-Z]{26}/,
      "no id but the workspace's, in imports",
    );
    const main = files.find(({ path }) => path === "main.tf")?.content ?? "";
    t.match(main, /pool += service_runner_pool\._1-linux\.key/);
    t.match(main, /lines += \[service_line\.app_main-line\.key\]/);
    t.match(main, /skills += \[service_skill\.app_greet\.key\]/);
    t.match(main, /DEPLOY_KEY = service_secret\.deploy\.name/);
    t.match(main, /tool += "\$\{service_integration\.app_tracker\.integration\}\.comment"/);
    t.match(main, /client_secret += service_secret\.tracker\.name/);
    t.match(main, /team_id += service_team\.app\.id/);
    t.match(main, /prompt += file\("\$\{path\.module\}\/prompts\/app\/main-line\/build\.md"\)/);
    t.match(main, /secret_wo += var\.hook_app_tell_signing_secret\n +secret_wo_version = 3/);
  },
);

t.test("the export of one resource has its variables, its import, its block and its files", async (t) => {
  const { service, owner, id } = await exported(t);
  const reader = await bearer(service, owner, { workspaceId: id, name: "reader", scopes: ["read"] });
  for (const kind of kinds.filter(({ hcl }) => hcl !== null)) {
    const list = kind.heldBy === "none" ? "/workspaces" : `/workspaces/${id}/${kind.plural}`;
    const items = (await reader.request("GET", `/api/resources${list}`)).body?.items;
    const [item] = Array.isArray(items) ? items : [];
    const reply = await reader.request("GET", `/api/resources/${kind.plural}/${item.id}/hcl`);
    t.equal(reply.status, 200, kind.name);
    const { hcl, files } = JSON.parse(reply.text);
    t.equal(await format(hcl), hcl, `${kind.name} is canonical`);
    const blocks = Object.keys(await parse("main.tf", hcl)).sort();
    t.same(blocks, kind.hidden.length > 0 ? ["import", "resource", "variable"] : ["import", "resource"]);
    t.notMatch(hcl, /service_\w+\.[\w-]+\.(id|key)/, "it names others by what they are");
    t.equal(files.length, kind.name === "line" || kind.name === "skill" ? 2 : 0);
  }
});

t.test("tokens are not exported, and only those who may read export", async (t) => {
  const { service, owner, id } = await exported(t);
  const made = await bearer(service, owner, { workspaceId: id, name: "one", scopes: ["read"] });
  t.equal((await owner.request("GET", `/api/resources/tokens/${made.tokenId}/hcl`)).status, 404);
  const stranger = await service.signIn("stranger@example.com");
  t.equal((await stranger.request("GET", `/api/resources/workspaces/${id}/export`)).status, 404);
  t.equal((await stranger.request("GET", `/api/resources/workspaces/${id}/hcl`)).status, 404);
});

const noTerraform = spawnSync("terraform", ["version"]).error === undefined ? false : "no terraform on this machine";
t.test("terraform itself finds nothing to format", { skip: noTerraform }, async (t) => {
  const { owner, id } = await exported(t);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-export-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const { path, content } of await readExport(owner, id)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const checked = spawnSync("terraform", ["fmt", "-check", "-recursive", folder], { encoding: "utf8" });
  t.equal(checked.status, 0, checked.stderr);
});

t.test("files are in the order of their paths where one key begins with another", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { id } = await owner.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const keys = ["main", "main-2", "main-2-b", "main0"];
  for (const team of ["app", "app-2"]) {
    const held = `/api/resources/workspaces/${id}/teams`;
    const { id: teamId } = await owner.create(held, { key: team, name: team });
    for (const key of keys) {
      const stations = keys.map((station) => ({
        key: station,
        name: station,
        kind: "work",
        prompt: `${key} ${station}`,
      }));
      await owner.create(`/api/resources/teams/${teamId}/lines`, { key, name: key, stations });
      const files = ["SKILL.md", "a/b.md", "a-b.md"].map((path) => ({ path, content: path }));
      await owner.create(`/api/resources/teams/${teamId}/skills`, { key, name: key, files });
    }
  }
  const paths = (await readExport(owner, id)).map(({ path }) => path);
  t.equal(paths.length, 2 + 2 * (4 * 4 + 4 * 3));
  t.same(paths, [...paths].sort());
});

t.test("a body is as declared and as long as its header says, which HEAD tells too", async (t) => {
  const { service, owner, id } = await exported(t);
  const path = `/api/resources/workspaces/${id}/export`;
  const whole = await owner.request("GET", path);
  t.equal(whole.headers["content-type"], "application/json");
  t.equal(whole.headers["content-length"], String(Buffer.byteLength(whole.text)));
  const route = toTables(service).routes.find((each) => each.path.endsWith("/{id}/export"));
  const declared = route === undefined ? null : toAnswers(route)[200];
  t.ok(declared instanceof z.ZodType && declared.safeParse(JSON.parse(whole.text)).success);
  const head = await owner.request("HEAD", path);
  t.same([head.status, head.text], [200, ""]);
  t.equal(head.headers["content-length"], whole.headers["content-length"]);
});

t.test("four exports of a person are under way at once, and one that nobody reads any more makes room", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { id } = await owner.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const { id: teamId } = await owner.create(`/api/resources/workspaces/${id}/teams`, { key: "app", name: "App" });
  // The 24 files below have more bytes than the system can buffer for a client that does not read.
  const files = [{ path: "SKILL.md", content: "x".repeat(500 * 1024) }];
  for (let n = 0; n < 24; n++) {
    await owner.create(`/api/resources/teams/${teamId}/skills`, { key: `s-${n}`, name: "S", files });
  }
  const path = `/api/resources/workspaces/${id}/export`;
  const readers: RawConnection[] = [];
  for (let n = 0; n < 4; n++) {
    const reader = await RawConnection.open(service.port);
    readers.push(reader);
    reader.send([`GET ${path} HTTP/1.1`, "Host: a", `Cookie: ${owner.credentials.cookie}`]);
    await once(reader.socket, "data");
    reader.socket.pause();
  }
  const refused = await owner.request("GET", path);
  t.equal(refused.status, 429, refused.text.slice(0, 100));
  t.match(refused.headers, { "retry-after": "5" });
  const other = await bearer(service, owner, { workspaceId: id, name: "reader", scopes: ["read"] });
  t.equal((await other.request("HEAD", path)).status, 200, "another credential has its own");
  readers[0]?.destroy();
  await service.logged(/\/export","status":200,.*"isCut":true/);
  t.equal((await owner.request("HEAD", path)).status, 200);
  for (const reader of readers) reader.destroy();
  const figures = await service.anonymous.request("GET", "/metrics");
  t.match(figures.text, /signalbox_http_cut_total [1-4]/);
});
