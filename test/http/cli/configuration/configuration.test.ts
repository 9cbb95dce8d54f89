import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
// The HCL parser sets globals. With this import, the test run gives this file its own process (`sharing-rules.ts`).
import "@cdktn/hcl2json";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { settings, valueFor, wholeWorkspace } from "../../../support/whole-workspace.js";
import { configurationCases } from "./configuration-cases.js";
import { openCutConnection } from "./cut-connection.js";
import { applyExport, editExport, readFolder, type Tally, writeFolder } from "./generated-edits.js";
import { refusedFolders, refusedStart } from "./refusals.js";

const scene = await openCommandScene(t, settings);
const { signalbox, person } = scene;

t.test("every command, as a person and a program use it", async (t) => {
  await testCommands(t, scene, configurationCases);
});

t.test("the export of every kind changes nothing, and makes the same workspace elsewhere", async (t) => {
  const id = await wholeWorkspace(person, "whole");
  const run = (args: string, env = {}) => signalbox.run(args.split(" "), { env });
  const exported = await run("export whole --workspace whole");
  t.match(exported, { code: 0, out: /^exported the workspace whole into .*: 10 files written/ });
  t.match(await run("export whole --workspace whole"), { code: 0, out: /0 files written, 10 unchanged/ });
  const nothing = "no changes\nnot compared: 5 secret values (sent when the version beside it changes)";
  t.same(await run("plan whole"), { code: 0, out: nothing, err: "" });

  const files = readFolder(join(signalbox.home, "whole"));
  const main = (files.get("main.tf") ?? "").replace('slug = "whole"', 'slug = "copy"');
  writeFolder(join(signalbox.home, "copy"), new Map([...files, ["main.tf", main]]));
  const missing = /main\.tf:\d+: the variable runner_pool__1-linux_token has no value: pass --var/;
  t.match(await run("plan copy"), { code: 1, err: missing });
  const names = [...(files.get("variables.tf") ?? "").matchAll(/variable "(.*)"/g)].map(([, name = ""]) => name);
  const values = names.map((name) => [name, name.startsWith("runner") ? `${valueFor(name)}-2` : valueFor(name)]);
  const env = Object.fromEntries(values.map(([name, value]) => [`SIGNALBOX_VAR_${name}`, value]));
  const created =
    /^\+ create workspace copy \(service_workspace\.whole, main\.tf:6\): creates a new workspace "copy"\n/;
  t.match(await run("plan copy", env), { code: 2, out: created });
  const applied = await run("apply copy --yes", env);
  t.equal(applied.code, 0, applied.err);
  t.match(applied.err, /^warning: workspace-token-trust ci: subject matches only subjects of names alone/m);
  t.match(await run("plan copy"), { code: 0, out: nothing });
  t.match(await run("export again --workspace copy"), { code: 0 });
  const again = readFolder(join(signalbox.home, "again"));
  const copyId = /"(ws_\w+)\//.exec(again.get("main.tf") ?? "")?.[1] ?? "";
  const renamed = (text: string) =>
    text
      .replaceAll(id, copyId)
      .replaceAll(/(service_workspace(_runners)?)\.whole/g, "$1.copy")
      .replaceAll(/"whole"|(?<=\/)whole"/g, (found) => found.replace("whole", "copy"));
  t.same(Object.fromEntries(again), Object.fromEntries([...files].map(([path, text]) => [path, renamed(text)])));
});

/** Number of seeds. `npm run configurations` uses 500 by default. */
const WORKSPACES = 4;

t.test("exports of generated workspaces change nothing, and edits are planned exactly and applied", async (t) => {
  const tally: Tally = { unchanged: 0, edited: 0, edits: new Map(), wrong: [] };
  for (let seed = 0; seed < WORKSPACES; seed += 1) {
    await applyExport(scene, seed, tally);
    await editExport(scene, seed, tally);
  }
  t.same(tally.wrong, []);
});

t.test("what is not understood is refused with file and line, before the service is asked", async (t) => {
  for (const { text, files = {}, says } of refusedFolders) {
    const folder = makeFolder({ "main.tf": `${refusedStart}${text}\n`, ...files });
    writeFolder(join(signalbox.home, folder), new Map([["folder/x", ""]]));
    symlinkSync("/etc/passwd", join(signalbox.home, folder, "link"));
    const { code, out, err } = await signalbox.run(["plan", folder]);
    t.same({ code, out, err }, { code: 1, out: "", err: `error: ${says}` }, text);
  }
  const many = makeFolder({ "main.tf": "locals {\n  a = upper(1)\n}\n", "more.tf": "data {}\n" });
  t.match(await signalbox.run(["plan", many]), { err: /^error: main\.tf:2: .*\nmore\.tf:1: / }, "several at once");
});

let folders = 0;

/** Writes a folder; returns its name. */
function makeFolder(files: Readonly<Record<string, string>>): string {
  folders += 1;
  const name = `made-folder-${folders}`;
  writeFolder(join(signalbox.home, name), new Map(Object.entries(files)));
  return name;
}

/**
 * Writes a folder with a team, a pool, a skill, and a line that uses the pool and the skill. Returns the folder's name.
 */
function teamFolder(key: string): string {
  return makeFolder({
    "main.tf": `${refusedStart}
locals {
  team = { id = service_team.made.id }
}

resource "service_line" "fix" {
  team_id = local.team.id
  key     = "fix"
  name    = "Fix"
  stations = [{
    key     = "work"
    name    = "Work"
    kind    = "work"
    skills  = [service_skill.careful["key"]]
    runners = { pool = service_runner_pool.made.key }
  }]
}

resource "service_skill" "careful" {
  team_id = service_team.made.id
  key     = "careful"
  name    = "Careful"
  files   = [{ path = "SKILL.md", content = "x" }]
}

resource "service_runner_pool" "made" {
  workspace_id = service_workspace.acme.id
  key          = "${key}"
}

resource "service_team" "made" {
  workspace_id = service_workspace.acme.id
  key          = "${key}"
  name         = "Made"
}
`,
  });
}

/** Creates a workspace token that is allowed to apply configurations; returns the token. */
async function workspaceToken(name: string, scopes: readonly string[] = ["configure", "runners"]): Promise<string> {
  const made = await person.request(
    "POST",
    `/api/resources/workspaces/${scene.workspaceId}/tokens`,
    { name, scopes },
    { "idempotency-key": name },
  );
  return made.headers["service-workspace-token"] ?? "";
}

t.test("an apply that is killed or whose response is lost is safe to repeat, and loses no token", async (t) => {
  const token = await workspaceToken("apply");
  const connection = await openCutConnection(scene.service.port);
  t.teardown(connection.close);
  const env = { SIGNALBOX_TOKEN: token };
  for (const when of ["before", "after"] as const) {
    for (const write of [1, 2, 3, 4]) {
      const key = `cut-${when}-${write}`;
      const folder = teamFolder(key);
      connection.cut(write, when);
      const cut = await signalbox.run(["apply", folder, "--yes"], { env: { ...env, SIGNALBOX_URL: connection.url } });
      t.match(cut, { code: 3, err: new RegExp(`\nstopped: create .*\ndone: ${write - 1} of 4\n`) });
      const again = await signalbox.run(["apply", folder, "--yes"], {
        env: { ...env, SIGNALBOX_URL: scene.service.baseUrl },
      });
      t.equal(again.code, 0, again.err);
      t.match(again.out, write === 4 && when === "after" ? /^no changes\n/ : /created line cut-\w+-\d\/fix$/);
      const empty = await signalbox.run(["plan", folder], { env: { ...env, SIGNALBOX_URL: scene.service.baseUrl } });
      t.match(empty, { code: 0, out: /^no changes\n/ });
      const file = join(signalbox.home, ".config/signalbox/tokens", scene.workspaceId, "runner-pool", `${key}.json`);
      t.equal(statSync(file).mode & 0o777, 0o600);
      const issued = JSON.parse(readFileSync(file, "utf8")).token;
      const taken = await person.request(
        "POST",
        `/api/resources/workspaces/${scene.workspaceId}/runner-pools`,
        { key: `${key}-2`, token: issued },
        { "idempotency-key": key },
      );
      t.match(taken.body, { errors: [{ path: "token", message: "is already used by another pool" }] });
      t.notOk(`${cut.out}${cut.err}${again.out}${again.err}`.includes(issued), "the token is not printed");
    }
  }
});

t.test("a refused apply removes no other attempt's token, and a failed one keeps its own", async (t) => {
  const connection = await openCutConnection(scene.service.port);
  t.teardown(connection.close);
  const env = { SIGNALBOX_URL: connection.url, SIGNALBOX_TOKEN: await workspaceToken("attempts") };
  const place = join(signalbox.home, ".config/signalbox/tokens", scene.workspaceId, "runner-pool");
  const files = () => readdirSync(place).filter((name) => name.startsWith("attempts"));
  const apply = () => signalbox.run(["apply", folder, "--yes"], { env });
  const folder = teamFolder("attempts");
  mkdirSync(place, { recursive: true });
  const other = '{"token":"of another attempt"}';
  writeFileSync(join(place, "attempts.json"), other);
  connection.cut(1, "refused");
  const refused = await apply();
  t.equal(refused.code, 1);
  t.notMatch(refused.err, /the token/);
  t.same(files(), ["attempts.json"]);
  t.equal(readFileSync(join(place, "attempts.json"), "utf8"), other);
  connection.cut(1, "failed");
  const failed = await apply();
  const named = /the token of the runner-pool attempts is in (.*) if the service created it/.exec(failed.err)?.[1];
  const kept = JSON.parse(readFileSync(named ?? "", "utf8"));
  t.match(kept, { address: "attempts", token: /^[\w-]{43}$/ });
  t.equal(statSync(named ?? "").mode & 0o777, 0o600);
  t.equal(readFileSync(join(place, "attempts.json"), "utf8"), other);
  t.equal(files().length, 2);
});

t.test("an apply stops at the first refusal and says what was done, in the order of references", async (t) => {
  const folder = teamFolder("refused");
  const connection = await openCutConnection(scene.service.port);
  t.teardown(connection.close);
  const env = { SIGNALBOX_URL: connection.url, SIGNALBOX_TOKEN: await workspaceToken("refused") };
  const left = [
    "stopped: create skill refused/careful (service_skill.careful, main.tf:29)",
    "done: 2 of 4",
    "not done: create line refused/fix (service_line.fix, main.tf:16)",
    "error: main.tf:33: files[0].content is not allowed here",
  ];
  connection.cut(3, "invalid");
  const run = await signalbox.run(["apply", folder, "--yes"], { env });
  t.equal(run.code, 1);
  t.match(run.out, /\ncreated runner-pool refused\ncreated team refused$/);
  t.same(run.err.split("\n").slice(1), left);
  connection.cut(1, "invalid");
  const json = await signalbox.run(["apply", folder, "--yes", "--json"], { env });
  t.equal(json.code, 1);
  t.match(JSON.parse(json.out), {
    done: [],
    stoppedAt: { address: "refused/careful" },
    notDone: [{ address: "refused/fix" }],
  });
  t.match(await signalbox.run(["apply", folder, "--yes"]), { code: 0, out: /created line refused\/fix$/ });
});

t.test(
  "a plan finds what the service would refuse, with the places in the folder, and nothing is applied",
  async (t) => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const folder = makeFolder({
      "main.tf": `${refusedStart}
resource "service_team" "new" {
  workspace_id = service_workspace.acme.id
  key          = "refused-new"
  name         = "New"
}
resource "service_skill" "careful" {
  team_id = service_team.new.id
  key     = "careful"
  name    = "Careful"
  files   = [{ path = "other.md", content = "x" }]
}
resource "service_line" "fix" {
  team_id = service_team.new.id
  key     = "fix"
  name    = "Fix"
  stations = [
    { key = "work", name = "Work", kind = "work", skills = [service_skill.careful.key], passes_to = ["reviw"] },
    { key = "work", name = "Work", kind = "work", runners = { pool = "no-pool" } }
  ]
}
resource "service_hook" "tell" {
  team_id = service_team.new.id
  key     = "tell"
  on      = "task.moved"
  steps = [
    { name = "a", request = { url = "https://not-allowed.example.org/in", headers = { Authorization = "x" } } },
    { name = "b", request = { url = "https://hooks.example.com/$\${{ evnt.id }}" } }
  ]
  signing = { secret_wo = "${secret}" }
}
`,
    });
    const says = [
      "error: main.tf:21: files must contain exactly one SKILL.md",
      "main.tf:28: stations[0].passes_to[0] there is no station reviw",
      "main.tf:29: stations[1].key stands twice",
      "main.tf:29: stations[1].runners.pool there is no runner-pool no-pool",
      "main.tf:37: steps[0].request.url the host not-allowed.example.org is not on the deployment's outbound allow-list (OUTBOUND_ALLOW)",
      "main.tf:37: steps[0].request.headers.Authorization is set by the service",
      "main.tf:38: steps[1].request.url does not check: there is no evnt here. Did you mean event?",
      "main.tf:40: signing.secret_wo_version is required",
    ];
    for (const command of [["plan"], ["apply", "--yes"]]) {
      const { code, out, err } = await signalbox.run([...command, folder]);
      t.same({ code, out, err: err.split("\n") }, { code: 1, out: "", err: says });
    }
    const env = { SIGNALBOX_TOKEN: await workspaceToken("configures", ["configure"]) };
    const pool =
      "service_runner_pool.made: This needs the permission manage-runners, which your role or token does not give.";
    t.same(await signalbox.run(["plan", teamFolder("forbidden")], { env }), {
      code: 1,
      out: "",
      err: `error: main.tf:36: ${pool}`,
    });
  },
);

t.test("a plan says that a service could not check it", async (t) => {
  const folder = teamFolder("unchecked");
  const path = join(signalbox.home, folder, "main.tf");
  writeFileSync(path, readFileSync(path, "utf8").replace('path = "SKILL.md"', 'path = "other.md"'));
  const connection = await openCutConnection(scene.service.port);
  t.teardown(connection.close);
  const env = { SIGNALBOX_URL: connection.url, SIGNALBOX_TOKEN: await workspaceToken("unchecked") };
  connection.cut(1, "old");
  t.match(await signalbox.run(["plan", folder], { env }), {
    code: 2,
    err: "the service did not check the plan, so an apply may stop midway: its release cannot do that",
  });
  t.match(await signalbox.run(["apply", folder, "--yes"], { env }), {
    code: 1,
    err: /\ndone: 2 of 4\n.*\nerror: main\.tf:33: files must contain exactly one SKILL\.md$/,
  });
  const files = `[{ path = "SKILL.md", content = "${"x".repeat(700_000)}" }]`;
  const skills = Array.from({ length: 7 }, (_, at) => {
    const fields = `team_id = service_team.core.id\n  key = "large-${at}"\n  name = "Large"\n  files = ${files}`;
    return [`large-${at}.tf`, `resource "service_skill" "large-${at}" {\n  ${fields}\n}\n`] as const;
  });
  const large = makeFolder({ "main.tf": refusedStart, ...Object.fromEntries(skills) });
  t.match(await signalbox.run(["plan", large]), { code: 2, err: /^the service did not check the plan, .*: / });
});

t.test("an apply says that a resource changed since the plan", async (t) => {
  const folder = teamFolder("since");
  t.match(await signalbox.run(["apply", folder, "--yes"]), { code: 0 });
  const path = join(signalbox.home, folder, "main.tf");
  writeFileSync(path, readFileSync(path, "utf8").replace('"Careful"', '"Other"'));
  const connection = await openCutConnection(scene.service.port);
  t.teardown(connection.close);
  const env = { SIGNALBOX_URL: connection.url, SIGNALBOX_TOKEN: await workspaceToken("since") };
  connection.cut(1, "moved-on");
  const run = await signalbox.run(["apply", folder, "--yes"], { env });
  t.match(run, { code: 1, err: /\nerror: the skill since\/careful changed since the plan: run plan again$/ });
});

t.test("an apply asks first, and needs --yes without a terminal", async (t) => {
  const folder = teamFolder("asked");
  t.match(await signalbox.run(["apply", folder]), { code: 64, err: /use --yes$/ });
  t.match(await signalbox.run(["apply", folder], { answers: ["n"] }), {
    code: 1,
    err: /Apply this to the workspace acme\? \[y\/N\]\n.*nothing was changed$/,
  });
  t.match(await signalbox.run(["plan", folder]), { code: 2, out: /4 to create, 0 to change, 0 to delete/ });
  t.match(await signalbox.run(["apply", folder], { answers: ["y"] }), { code: 0 });
});

t.test("a key is never changed in place, and a station that a hook names may go with the name", async (t) => {
  const folder = teamFolder("moved");
  const path = join(signalbox.home, folder, "main.tf");
  const profile = 'resource "service_harness_profile" "sh" {\n  team_id = service_team.made.id\n  key = "sh"\n}\n';
  const hook = (stations: string) => `resource "service_hook" "tell" {
  team_id = service_team.made.id
  key     = "tell"
  on      = "task.moved"
  match   = { stations = [${stations}] }
  steps   = [{ name = "tell", request = { url = "https://hooks.example.com/in" } }]
  signing = { secret_wo = var.secret, secret_wo_version = 1 }
}
variable "secret" {
  sensitive = true
}
`;
  const text = `${readFileSync(path, "utf8")}${profile}`;
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  writeFileSync(path, text + hook('"work"'));
  const applied = await signalbox.run(["apply", folder, "--yes", "--var", `secret=${secret}`]);
  t.match(applied, { code: 0, out: /signing\.secret_wo: \(secret\)/ });
  t.notOk(applied.out.includes(secret));
  const renamed = text.replace('key     = "work"', 'key     = "do"');
  writeFileSync(path, renamed + hook('"do"'));
  const moved = await signalbox.run(["plan", folder]);
  t.match(
    moved,
    {
      code: 1,
      out: "",
      err: /main\.tf:16: service_line\.fix: The station work of line moved\/fix is used by hook moved\/tell\.\n.*match\.stations\[0\] no line of the team has a station do$/,
    },
    "each needs the other",
  );
  writeFileSync(path, renamed + hook(""));
  t.match(await signalbox.run(["apply", folder, "--yes"]), {
    code: 0,
    out: /changed hook moved\/tell\nchanged line moved\/fix$/,
  });
  t.match(await signalbox.run(["plan", folder]), { code: 0 });

  writeFileSync(path, renamed.replace('key = "sh"', 'key = "sh"\n  harness = "codex"') + hook(""));
  t.match(await signalbox.run(["plan", folder]), {
    code: 1,
    err: /main\.tf:\d+: service_harness_profile\.sh: harness of the harness-profile moved\/sh cannot change from "command" to "codex": give the resource another key$/,
  });
  const imported = `import {\n  to = service_harness_profile.sh\n  id = "${scene.workspaceId}/moved/sh"\n}\n`;
  writeFileSync(path, renamed.replace('key = "sh"', 'key = "bash"') + hook("") + imported);
  t.match(await signalbox.run(["plan", folder]), {
    code: 2,
    out: /\+ create harness-profile moved\/bash .*\n {4}a key cannot change, so this is a new resource; moved\/sh stays until --prune deletes it\n/,
  });
  t.match(await signalbox.run(["plan", folder, "--prune"]), { code: 2, out: /new resource; moved\/sh is deleted\n/ });
});

t.test("a team with another key is another team, and --prune deletes the old one after its resources", async (t) => {
  const folder = teamFolder("old");
  const path = join(signalbox.home, folder, "main.tf");
  const text = readFileSync(path, "utf8").replace('slug = "acme"', 'slug = "pruned"');
  writeFileSync(path, text);
  t.match(await signalbox.run(["apply", folder, "--yes"]), { code: 0, out: /\ncreated workspace pruned\n/ });
  writeFileSync(path, text.replace(/(?<=key {10}= )"old"(?=\n {2}name)/, '"new"'));
  const kept = await signalbox.run(["plan", folder]);
  t.match(kept, { code: 2, out: /3 to create, 0 to change, 0 to delete\nnot in the folder: 3 resources of .* pruned/ });
  const pruned = await signalbox.run(["apply", folder, "--yes", "--prune"]);
  t.equal(pruned.code, 0, pruned.err);
  t.same(pruned.out.split("\n").slice(-6), [
    ...["created team new", "created skill new/careful", "created line new/fix"],
    ...["deleted line old/fix", "deleted skill old/careful", "deleted team old"],
  ]);
  t.same(await signalbox.run(["plan", folder]), { code: 0, out: "no changes", err: "" });
});

t.test(
  "variables have values of files, the environment and options, and sensitive values are not printed",
  async (t) => {
    const folder = makeFolder({
      "main.tf": `${refusedStart}
variable "level" {
  type      = string
  sensitive = true
  default   = "default level"
}
variable "minutes" {
  type = number
}
variable "args" {
  type    = list(string)
  default = ["a"]
}
locals {
  names = { profile = "shell-\${var.minutes}" }
}
resource "service_harness_profile" "made" {
  team_id         = service_team.core.id
  key             = local.names["profile"]
  timeout_minutes = var.minutes
  args            = var.args
  env             = { LEVEL = "at \${var.level}" }
  depends_on      = [service_team.core]
}
`,
      "terraform.tfvars": 'level = "file level"\n',
      "b.auto.tfvars.json": '{"minutes": "7"}',
    });
    writeFileSync(join(signalbox.home, "given.tfvars"), 'args = [\n  "b", # one\n  "c"\n]\nother = 1\n');
    const plan = async (args: readonly string[], env = {}) => {
      const { code, out, err } = await signalbox.run(["plan", folder, "--json", ...args], { env });
      t.equal(code, 2, err);
      t.notMatch(`${out}${err}`, / level/);
      const { changes } = JSON.parse(out);
      return {
        err,
        fields: Object.fromEntries(changes[0].fields.map((each: { readonly field: string }) => [each.field, each])),
      };
    };
    t.match((await plan([])).fields, {
      key: { new: "shell-7" },
      timeout_minutes: { new: 7 },
      args: { new: ["a"] },
      env: { new: null, isSecret: true },
    });
    const env = { TF_VAR_args: '["x"]', SIGNALBOX_VAR_args: '["y"]', TF_VAR_minutes: "9" };
    t.match(
      (await plan([], env)).fields,
      { args: { new: ["y"] }, timeout_minutes: { new: 7 } },
      "files come after the environment",
    );
    const given = await plan(["--var-file", "given.tfvars", "--var", "minutes=8"], env);
    t.match(given, {
      fields: { args: { new: ["b", "c"] }, key: { new: "shell-8" } },
      err: "given.tfvars sets variables that the folder does not have: other",
    });
    t.match(await signalbox.run(["plan", folder, "--var", "no=1"]), {
      code: 64,
      err: /there is no variable no in the folder/,
    });
    t.match(await signalbox.run(["plan", folder, "--var", "minutes=x"]), {
      code: 1,
      err: "error: --var minutes: the variable minutes must be of the type number",
    });
  },
);

t.test("a sensitive value is not printed in any Unicode form, in no field, name or key", async (t) => {
  const folder = makeFolder({
    "main.tf": `${refusedStart}
variable "secret" {
  sensitive = true
}
resource "service_skill" "made" {
  team_id     = service_team.core.id
  key         = "plain"
  name        = "it is \${var.secret}"
  description = var.secret
  files       = [{ path = "SKILL.md", content = "x" }, { path = "\${var.secret}.md", content = "x" }]
}
`,
  });
  const env = { SIGNALBOX_VAR_secret: "e\u0301cole" };
  for (const args of [[], ["--json"]]) {
    const { code, out, err } = await signalbox.run(["plan", folder, ...args], { env });
    t.equal(code, 2, err);
    t.notMatch(`${out}${err}`.normalize("NFC"), /cole/);
  }
});

t.test("a folder without a workspace block describes resources of the default one, also by ids", async (t) => {
  const skills = `/api/resources/teams/${scene.teamId}/skills`;
  const files = [{ path: "SKILL.md", content: "# One\n" }];
  const skill = await person.create(skills, { key: "alone", name: "Alone", files });
  const reply = await person.request("GET", `/api/resources/skills/${skill.id}/hcl`);
  const exported = JSON.parse(reply.text);
  const texts = exported.files.map((file: { readonly path: string; readonly content: string }) => [
    file.path,
    file.content,
  ]);
  const folder = makeFolder({ "skill.tf": exported.hcl, ...Object.fromEntries(texts) });
  const wanted = ["--workspace", "acme"];
  t.match(await signalbox.run(["plan", folder, ...wanted]), {
    code: 0,
    out: /^no changes\nnot in the folder: \d+ resources of the workspace acme/,
  });
  const path = join(signalbox.home, folder, "skill.tf");
  writeFileSync(path, readFileSync(path, "utf8").replace('"Alone"', '"Not alone"'));
  t.match(await signalbox.run(["plan", folder, ...wanted]), {
    code: 2,
    out: /^~ change skill core\/alone .*\n {4}name: "Alone" → "Not alone"\n/,
  });
});

t.test("objects may be blocks, text keeps its Unicode form, and whole numbers keep all digits", async (t) => {
  const team = await person.create(`/api/resources/workspaces/${scene.workspaceId}/teams`, {
    key: "exact",
    name: "Exact",
  });
  const make = (plural: string, body: object) => person.create(`/api/resources/teams/${team.id}/${plural}`, body);
  const decomposed = "e\u0301";
  const skill = await make("skills", {
    key: "form",
    name: decomposed,
    description: decomposed,
    files: [{ path: "SKILL.md", content: decomposed }],
  });
  await make("hooks", {
    key: "digits",
    on: "task.moved",
    steps: [{ name: "tell", request: { url: "https://hooks.example.com/in", body: { big: 0 } } }],
    signing: { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 },
  });
  const run = (command: string, ...more: string[]) => signalbox.run([command, "exact", ...more]);
  t.equal((await run("export", "--workspace", "acme")).code, 0);
  t.match(await run("plan"), { code: 0, out: /^no changes\nnot compared: \d+ secret values/, err: "" });
  const path = join(signalbox.home, "exact", "main.tf");
  const line = `resource "service_line" "exact_blocks" {
  team_id = service_team.exact.id
  key     = "blocks"
  name    = "Blocks"
  stations {
    key  = "work"
    name = "Work"
    kind = "work"
    judge {
      claims = ["It is \${service_team.exact.name}."]
    }
  }
  stations {
    key  = "review"
    name = "Review"
    kind = "review"
  }
}
`;
  const text = readFileSync(path, "utf8");
  const edited = text
    .replace(/(?<=service_skill" "exact_form"[^}]*name {8}= )".*?"/, '"Other"')
    .replace("big = 0", "big = 12345678901234567890");
  writeFileSync(path, edited + line);
  const planned = await run("plan");
  t.match(planned.out, /name: "e\u0301" → "Other"\n/);
  t.match(planned.out, /steps\["tell"\]\.request\.body\.big: 0 → 12345678901234567890\n/);
  t.match(planned.out, /stations: \[\{"key":"work","name":"Work","kind":"work","judge":\{"claims":\["It is E…\n/);
  const applied = await run("apply", "--yes");
  t.equal(applied.code, 0, applied.err);
  t.match((await person.request("GET", `/api/resources/skills/${skill.id}`)).body, {
    name: "Other",
    description: decomposed,
  });
  t.match(await run("plan"), { code: 0, out: /^no changes\nnot compared: \d+ secret values/, err: "" });
  t.equal((await run("export", "--workspace", "acme", "--force")).code, 0);
  t.match(readFileSync(path, "utf8"), /big = 12345678901234567890\n/);
  t.match(readFileSync(path, "utf8"), /passes_to += \["review"\]/, "stations pass to the next one by default");
  t.match(await run("plan"), { code: 0, out: /^no changes\nnot compared: \d+ secret values/, err: "" });
});

t.test(
  "an exported text file ends with a newline, and its meaning stays the same when an editor adds one",
  async (t) => {
    const team = await person.create(`/api/resources/workspaces/${scene.workspaceId}/teams`, {
      key: "ends",
      name: "Ends",
    });
    const contents = {
      "SKILL.md": "no newline",
      "a b.md": "one\n",
      "c.md": "two\n\n",
      "d.md": "carriage\r",
      "e.md": "",
    };
    const files = Object.entries(contents).map(([path, content]) => ({ path, content }));
    const made = await person.create(`/api/resources/teams/${team.id}/skills`, { key: "ends", name: "Ends", files });
    const run = (command: string, ...more: string[]) => signalbox.run([command, "ends", ...more]);
    t.equal((await run("export", "--workspace", "acme")).code, 0);
    const main = readFileSync(join(signalbox.home, "ends", "main.tf"), "utf8");
    const at = (path: string) => join(signalbox.home, "ends", "skills/ends/ends", path);
    t.match(main, /content = chomp\(file\("\$\{path\.module\}\/skills\/ends\/ends\/SKILL\.md"\)\)\n/);
    t.match(main, /content = file\("\$\{path\.module\}\/skills\/ends\/ends\/a b\.md"\)\n/);
    t.equal(readFileSync(at("SKILL.md"), "utf8"), "no newline\n");
    t.equal(readFileSync(at("d.md"), "utf8"), "carriage\r");
    t.match(await run("plan"), { code: 0, out: /^no changes\n/ });
    writeFileSync(at("SKILL.md"), "no newline\r\n\n");
    t.match(await run("plan"), { code: 0, out: /^no changes\n/ });
    writeFileSync(at("a b.md"), "one\nand another\n");
    t.match(await run("plan"), {
      code: 2,
      out: /files\["a b\.md"\]\.content:\n {6}@@ -1,1 \+1,2 @@\n {7}one\n {6}\+and another\n\n?0 to create, 1 to change/,
    });
    t.match(await run("plan", "--json"), { out: /"old": "one\\n",\n +"new": "one\\nand another\\n"/ });
    t.equal((await run("apply", "--yes")).code, 0);
    const now = await person.request("GET", `/api/resources/skills/${made.id}`);
    t.same(
      now.body?.files,
      files.map((file) => (file.path === "a b.md" ? { ...file, content: "one\nand another\n" } : file)),
    );
    t.match(await run("export", "--workspace", "acme"), {
      code: 1,
      err: /other versions of skills\/ends\/ends\/SKILL\.md: /,
    });
  },
);

t.test("an export replaces files that differ only with --force, and prints to standard output", async (t) => {
  const run = (...args: string[]) => signalbox.run(["export", ...args, "--workspace", "acme"]);
  t.equal((await run("guarded")).code, 0);
  const path = join(signalbox.home, "guarded", "main.tf");
  writeFileSync(path, "# mine\n");
  t.match(await run("guarded"), {
    code: 1,
    err: /has other versions of main\.tf: pass --force to replace them, or name another folder$/,
  });
  t.equal(readFileSync(path, "utf8"), "# mine\n");
  t.match(await run("guarded", "--force"), { code: 0, out: /1 file written/ });
  t.match(readFileSync(path, "utf8"), /service_workspace/);
  rmSync(join(signalbox.home, "guarded", "skills"), { recursive: true });
  symlinkSync(join(signalbox.home, "elsewhere"), join(signalbox.home, "guarded", "skills"));
  t.match(await run("guarded"), {
    code: 1,
    err: /guarded\/skills is a link: the export writes no file through links$/,
  });
  writeFileSync(join(signalbox.home, "a-file"), "");
  t.match(await run("a-file"), { code: 1, err: /\/a-file is no folder$/ });
  t.match(await run("a-file/below"), { code: 1, err: /\/a-file is no folder$/ });
  t.match(await run("/proc/nope"), { code: 1, err: /^error: cannot write \/proc\/nope\/main\.tf: / });
  t.match(await run("-"), { code: 0, out: /^==> main\.tf <==\nimport \{\n/ });
  t.notOk(existsSync(join(signalbox.home, "elsewhere")));
});
