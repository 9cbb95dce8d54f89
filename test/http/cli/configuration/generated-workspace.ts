import { exampleBodies } from "../../../../http/resources/kind-examples.js";
import type { Chance } from "../../../simulation/chance.js";
import { toSome, toText, words } from "../../../support/generated-module.js";
import type { Client } from "../../../support/service.js";

/** The settings that the service of generated workspaces needs. */
export const generatedSettings = { OUTBOUND_ALLOW: "hooks.example.com" };

/** Creates a workspace with some resources of every kind; returns its id. */
export async function makeWorkspace(person: Client, slug: string, chance: Chance): Promise<string> {
  const { id } = await person.create("/api/resources/workspaces", { slug, name: toName(chance) });
  const make = (plural: string, body: object) => person.create(`/api/resources/workspaces/${id}/${plural}`, body);
  const pools = ["linux", ...toSome(chance, ["1-mac"])];
  for (const key of pools)
    await make("runner-pools", { key, labels: toSome(chance, ["gpu", "big"]), concurrency: chance.pick([null, 3]) });
  const secrets = toSome(chance, ["deploy", "sign"]);
  for (const name of secrets) {
    await make("secrets", {
      name,
      value: `secret ${slug}`,
      valueVersion: chance.between(1, 3),
      hosts: toSome(chance, ["a.example.com"]),
    });
  }
  if (chance.onceIn(2))
    await make("token-trusts", {
      ...exampleBodies["workspace-token-trust"](1),
      lifetimeMinutes: chance.between(1, 60),
      claims: { job: '"$' + '{x}"' },
    });
  if (chance.onceIn(2)) await make("runner-trusts", { ...exampleBodies["runner-trust"](1), pools });
  if (chance.onceIn(2))
    await make("workspace-runners", { defaultPool: chance.pick([null, "linux"]), maxConcurrentRuns: 7 });
  for (const key of ["core", ...toSome(chance, ["core-2"])]) {
    const team = await make("teams", { key, name: toName(chance) });
    await makeTeam(person, team.id, { pools, secrets }, chance);
  }
  return id;
}

function toName(chance: Chance): string {
  return `Name ${chance.between(1, 99)} ${chance.pick(words)}`;
}

async function makeTeam(
  person: Client,
  teamId: string,
  { pools, secrets }: { readonly pools: readonly string[]; readonly secrets: readonly string[] },
  chance: Chance,
): Promise<void> {
  const make = (plural: string, body: object) => person.create(`/api/resources/teams/${teamId}/${plural}`, body);
  const skills = toSome(chance, ["greet", "lint"]);
  for (const key of skills) {
    const more = toSome(chance, ["a b.md", "docs/x.md"]).map((path) => ({ path, content: toText(chance) }));
    const files = [{ path: "SKILL.md", content: toText(chance) }, ...more];
    await make("skills", { key, name: toName(chance), description: chance.pick(["", toText(chance)]), files });
  }
  const profiles = toSome(chance, ["shell"]);
  for (const key of profiles) {
    const named = Object.fromEntries(secrets.map((name, index) => [`SECRET_${index}`, name]));
    await make("harness-profiles", {
      key,
      args: ["sh", toText(chance)],
      env: { LEVEL: toText(chance) },
      secrets: named,
    });
  }
  const integrations = toSome(chance, ["tracker-1"]);
  if (integrations.length > 0) await make("integrations", exampleBodies.integration(1));
  const tools = integrations.map((name) => `${name}.comment`);
  const lines = ["main", ...toSome(chance, ["main-2"])];
  for (const key of lines) {
    const keys = ["plan", "work", ...toSome(chance, ["review", "ship"])];
    const stations = keys.map((station) => ({
      ...stationFields(chance, { pools, skills, profiles, tools }),
      key: station,
      passesTo: toSome(
        chance,
        keys.filter((each) => each !== station),
      ),
    }));
    const repositories = toSome(chance, ["acme/app"]).map((name) => ({ name, setup: "npm ci\nnpm test", image: null }));
    await make("lines", { key, name: toName(chance), repositories, stations, source: null });
  }
  if (chance.onceIn(2)) {
    const body = { text: toText(chance), deep: { list: [1, 2.5, null, true], word: chance.pick(words) } };
    const steps = [{ name: "tell", request: { url: "https://hooks.example.com/in", body } }];
    await make("hooks", {
      ...exampleBodies.hook(1),
      match: { lines: toSome(chance, lines) },
      steps,
      vars: { level: "x" },
    });
  }
}

interface Named {
  readonly pools: readonly string[];
  readonly skills: readonly string[];
  readonly profiles: readonly string[];
  readonly tools: readonly string[];
}

/** Returns random fields of a station. The combination of the fields is valid. */
function stationFields(chance: Chance, { pools, skills, profiles, tools }: Named): Record<string, unknown> {
  const claims = toSome(chance, ["It works.", "It is\nsmall."]);
  const scale = chance.pick(["yes-no", "number"]);
  const judge = {
    rubric: claims.length > 0 && chance.onceIn(2) ? "" : `Rubric\n${toText(chance)}`,
    scale,
    passScore: scale === "number" ? chance.pick([null, 4.5]) : null,
    claims,
    passShare: claims.length > 0 ? chance.pick([null, 0.5]) : null,
  };
  return {
    name: toName(chance),
    kind: chance.pick(["work", "review"]),
    model: chance.pick([null, "small", "m $" + "{y}"]),
    effort: chance.pick([null, "low", "high"]),
    profile: chance.pick([null, ...profiles]),
    prompt: chance.onceIn(4) ? "" : toText(chance),
    skills: toSome(chance, skills),
    tools: tools.map((tool) => ({ tool, approval: chance.onceIn(2) })),
    judge: chance.onceIn(2) ? judge : null,
    check: chance.pick([null, "make check", "a\nb\n"]),
    decisions: chance.onceIn(2),
    runners: { pool: chance.pick([null, ...pools]), labels: toSome(chance, ["gpu"]) },
    timeoutMinutes: chance.pick([60, 12.5, 5]),
    alerts: toSome(chance, ["cost", "minutes"]).map((measure) => ({ measure, above: 1.5, over: 10 })),
  };
}
