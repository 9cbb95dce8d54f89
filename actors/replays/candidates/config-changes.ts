import type { RunConfig } from "../../lines/fingerprint.js";
import { canonicalJson } from "../../resources/canonical-json.js";

/** The parts of a station's config that a change can concern (see "Replay candidate" in the replays document). */
export const changeParts = [
  ...(["prompt", "harness", "model", "effort", "profile", "image", "repository"] as const),
  ...(["skill", "tool", "decisions", "memories", "judge"] as const),
] as const;

/** One difference between two configs of a station. */
export interface ConfigChange {
  readonly part: (typeof changeParts)[number];
  /** The name of the repository, skill, tool or judge field; null for any other change. */
  readonly name: string | null;
  readonly kind: "added" | "removed" | "changed";
  /** Null when the value is absent or hidden. */
  readonly was: unknown;
  readonly now: unknown;
}

type Station = RunConfig["station"];
type Repository = RunConfig["repositories"][number];
type Judge = NonNullable<Station["judge"]>;

/** Judge texts that a change does not show. */
const hiddenOfJudge: ReadonlySet<keyof Judge> = new Set(["rubric", "claims"]);

/**
 * Lists the differences between the two configs, part by part. Skills are compared by content. Omits memories, because
 * configs do not contain them. Also omits fields that belong to no part, such as the check and the timeout.
 */
export function listConfigChanges(live: RunConfig, planned: RunConfig): readonly ConfigChange[] {
  const [was, now] = [live.station, planned.station];
  return [
    ...(was.prompt === now.prompt ? [] : [hide(difference("prompt", null, was.prompt || null, now.prompt || null))]),
    ...single("harness", was, now),
    ...single("model", was, now),
    ...single("effort", was, now),
    ...profileChanges(live, planned),
    ...repositoryChanges(live.repositories, planned.repositories),
    ...skillChanges(live.skills, planned.skills),
    ...toolChanges(was.tools, now.tools),
    ...single("decisions", was, now),
    ...judgeChanges(was.judge, now.judge),
  ];
}

function single(part: "harness" | "model" | "effort" | "profile" | "decisions", was: Station, now: Station) {
  return was[part] === now[part] ? [] : [difference(part, null, was[part], now[part])];
}

/**
 * Returns one change if the configs name different profiles, or if the profile's content differs. The change hides the
 * content.
 */
function profileChanges(live: RunConfig, planned: RunConfig): ConfigChange[] {
  const { profile } = planned.station;
  if (live.station.profile !== profile) return single("profile", live.station, planned.station);
  return isSame(live.profile, planned.profile) ? [] : [hide(difference("profile", null, profile, profile))];
}

function repositoryChanges(live: readonly Repository[], planned: readonly Repository[]): ConfigChange[] {
  return listNames(live, planned, ({ name }) => name).flatMap((name) => {
    const was = live.find((one) => one.name === name) ?? null;
    const now = planned.find((one) => one.name === name) ?? null;
    const findSetup = (of: Repository | null) => (of === null ? null : { setup: of.setup });
    return [
      ...(isSame(findSetup(was), findSetup(now))
        ? []
        : [difference("repository", name, findSetup(was), findSetup(now))]),
      ...((was?.image ?? null) === (now?.image ?? null)
        ? []
        : [difference("image", name, was?.image ?? null, now?.image ?? null)]),
    ];
  });
}

function skillChanges(live: RunConfig["skills"], planned: RunConfig["skills"]): ConfigChange[] {
  const digestIn = (skills: RunConfig["skills"], name: string) =>
    skills.find(({ key }) => key === name)?.digest ?? null;
  return listNames(planned, live, ({ key }) => key).flatMap((name) => {
    const [was, now] = [digestIn(live, name), digestIn(planned, name)];
    return was === now ? [] : [hide(difference("skill", name, was, now))];
  });
}

function toolChanges(live: Station["tools"], planned: Station["tools"]): ConfigChange[] {
  return listNames(live, planned, ({ tool }) => tool).flatMap((name) => {
    const was = findTerms(live, name);
    const now = findTerms(planned, name);
    return isSame(was, now) ? [] : [difference("tool", name, was, now)];
  });
}

function findTerms(tools: Station["tools"], name: string): { readonly approval: boolean } | null {
  const found = tools.find(({ tool }) => tool === name);
  return found === undefined ? null : { approval: found.approval };
}

function judgeChanges(live: Judge | null, planned: Judge | null): ConfigChange[] {
  if (live === null || planned === null) {
    return live === planned ? [] : [hide(difference("judge", null, live, planned))];
  }
  return (Object.keys(planned) as (keyof Judge)[]).flatMap((field) => {
    if (isSame(live[field], planned[field])) return [];
    const change = difference("judge", field, live[field], planned[field]);
    return [hiddenOfJudge.has(field) ? hide(change) : change];
  });
}

/** Lists the names in both lists without duplicates, first the names in the first list. */
function listNames<One>(
  first: readonly One[],
  second: readonly One[],
  toName: (one: One) => string,
): readonly string[] {
  return [...new Set([...first, ...second].map(toName))];
}

function isSame(left: unknown, right: unknown): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

function difference(part: ConfigChange["part"], name: string | null, was: unknown, now: unknown): ConfigChange {
  return { part, name, kind: was === null ? "added" : now === null ? "removed" : "changed", was, now };
}

function hide(change: ConfigChange): ConfigChange {
  return { ...change, was: null, now: null };
}
