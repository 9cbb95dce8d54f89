import type { CommandCase, CommandScene } from "../../../support/command-cases.js";
import { listItems } from "../../../support/resources.js";

/** Returns the scene's latest firing. The scene has a hook `tell` in its team, which has fired once. */
async function latestFiring({ person, teamId }: CommandScene): Promise<Readonly<Record<string, unknown>>> {
  const [firing] = listItems(await person.request("GET", `/api/teams/${teamId}/hook-occurrences?limit=1`));
  if (firing === undefined) throw new Error("no hook has fired");
  return firing;
}

/** The address of the scene's receiver, which the hook names. */
async function receiverUrl({ person, workspaceId }: CommandScene): Promise<string> {
  const [hook] = listItems(await person.request("GET", `/api/resources/workspaces/${workspaceId}/hooks`));
  const [step] = (hook?.steps ?? []) as readonly { readonly request: { readonly url: string } }[];
  return step?.request.url ?? "";
}

let created = 0;
let deleted = 0;

export const hookCases: readonly CommandCase[] = [
  {
    name: "hook list",
    args: () => ["--team", "acme/core"],
    prints:
      /^HOOK +EVENT +LAST 24 H +NEXT RETRY +FAILURE +STEPS +CONDITION\ntell +task\.opened +1 delivered +- +continue +tell http:\S+ +lines: dev$/,
    json: { items: [{ key: "tell", on: "task.opened", health: { delivered: 1, waiting: 0 } }], hasMore: false },
    wrong: ["--no-such-option"],
  },
  {
    name: "hook log",
    args: () => ["tell", "--event", "task.opened", "--state", "delivered", "--limit", "5"],
    prints: /^FIRING +FIRED +HOOK +EVENT +STATE +ATTEMPTS +WHY\nocc_\S+ +\S+Z +tell +task\.opened +delivered +1 +-/,
    json: { items: [{ hook: "tell", state: "delivered" }], hasMore: false },
    wrong: ["--state", "asleep"],
  },
  {
    name: "hook show",
    args: async (scene) => [String((await latestFiring(scene)).id)],
    prints:
      /^tell: delivered, the receiver answered 200\nfiring +occ_[\s\S]*\nattempt 1, step tell, [\s\S]*\ncurl 'http[\s\S]*--data-raw '\{"hook"/,
    json: { hook: "tell", state: "delivered", attempts: [{ status: 200 }] },
    wrong: ["one", "two"],
  },
  {
    name: "hook why",
    args: async (scene) => [String((await latestFiring(scene)).taskId)],
    prints: /^task\.opened of the task task_\S+, \S+ \(occ_\w+\)\nHOOK +FIRED +WHY\ntell +yes +delivered: occ_\S+$/,
    json: { on: "task.opened", hooks: [{ hook: "tell", firing: { state: "delivered" } }] },
    wrong: ["--event", "lunch"],
  },
  {
    name: "hook listen",
    args: async (scene) => ["--forward", await receiverUrl(scene), "--last", "1", "--limit", "1"],
    prints:
      /^forwarding the hooks of acme\/core to http:\S+\nsigning secret: whsec_\S+\n\S+Z +tell +task\.opened +task_\S+ +answered 200$/,
    json: { hook: "tell", on: "task.opened", step: "tell", status: 200, error: null },
    wrong: ["--forward", "ftp://example.com"],
  },
  {
    name: "hook test",
    args: () => ["tell"],
    prints: /^tell: delivered, the receiver answered 200\n[\s\S]*event +task\.opened occ_\w+ \(a test\)/,
    json: { hook: "tell", test: true, state: "delivered" },
    wrong: ["one", "two"],
  },
  {
    name: "hook resend",
    args: async (scene) => {
      const { body } = await scene.person.request("GET", `/api/teams/${scene.teamId}/hook-occurrences?limit=200`);
      const firings = (body?.items ?? []) as readonly { readonly id: string; readonly test: boolean }[];
      return [firings.find(({ test }) => !test)?.id ?? ""];
    },
    prints: /^tell: delivered, the receiver answered 200\n[\s\S]*resends +occ_/,
    json: { hook: "tell", resends: /^occ_/, state: "delivered" },
    wrong: ["--from", "yesterday"],
  },
  {
    name: "hook create",
    args: async (scene) => {
      created += 1;
      return [`signed-${created}`, "--event", "task.moved", "--receiver", await receiverUrl(scene)];
    },
    prints: /^whsec_\S{32}$/,
    json: { key: "signed-2", on: "task.moved", secret: /^whsec_\S{32}$/, steps: [{ name: "send" }] },
    wrong: ["signed", "--event", "task.moved"],
  },
  {
    name: "hook delete",
    args: () => {
      deleted += 1;
      return [`signed-${deleted}`, "--yes"];
    },
    prints: /^deleted the hook core\/signed-1 \(hook_\w{26}\)$/,
    json: { key: "signed-2" },
    wrong: [],
  },
];
