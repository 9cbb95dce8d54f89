import { isDeepStrictEqual } from "node:util";
import type { StationBody } from "../lines/station.js";

/** The parts of a station's config that a change may be about (replays, Replay candidate). */
export const changeParts = [
  ...(["prompt", "harness", "model", "effort", "profile", "image", "repository"] as const),
  ...(["skill", "tool", "decisions", "memories", "judge"] as const),
] as const;

/** One difference between two configs of a station. */
export interface ConfigChange {
  readonly part: (typeof changeParts)[number];
  /** Which skill, tool or field of the judge; null when the part is a single value. */
  readonly name: string | null;
  readonly kind: "added" | "removed" | "changed";
  /** Null when the value is hidden (prompts, skills, rubrics), and when there is none. */
  readonly was: unknown;
  readonly now: unknown;
}

type Judge = NonNullable<StationBody["judge"]>;

/** Texts that a change does not show. */
const hiddenOfJudge: ReadonlySet<keyof Judge> = new Set(["rubric", "claims"]);

/** The differences of `planned` from `live`, part by part. */
export function listConfigChanges(live: StationBody, planned: StationBody): readonly ConfigChange[] {
  return [
    ...(live.prompt === planned.prompt
      ? []
      : [hide(difference("prompt", null, live.prompt || null, planned.prompt || null))]),
    ...single("harness", live, planned),
    ...single("model", live, planned),
    ...single("effort", live, planned),
    ...single("profile", live, planned),
    ...skillChanges(live.skills, planned.skills),
    ...toolChanges(live.tools, planned.tools),
    ...single("decisions", live, planned),
    ...judgeChanges(live.judge, planned.judge),
  ];
}

function single(
  part: "harness" | "model" | "effort" | "profile" | "decisions",
  live: StationBody,
  planned: StationBody,
): ConfigChange[] {
  return live[part] === planned[part] ? [] : [difference(part, null, live[part], planned[part])];
}

function skillChanges(live: readonly string[], planned: readonly string[]): ConfigChange[] {
  return [
    ...planned.filter((key) => !live.includes(key)).map((key) => hide(difference("skill", key, null, key))),
    ...live.filter((key) => !planned.includes(key)).map((key) => hide(difference("skill", key, key, null))),
  ];
}

function toolChanges(live: StationBody["tools"], planned: StationBody["tools"]): ConfigChange[] {
  const names = new Set([...live, ...planned].map(({ tool }) => tool));
  return [...names].flatMap((name) => {
    const was = termsOf(live, name);
    const now = termsOf(planned, name);
    return isDeepStrictEqual(was, now) ? [] : [difference("tool", name, was, now)];
  });
}

function termsOf(tools: StationBody["tools"], name: string): { readonly approval: boolean } | null {
  const found = tools.find(({ tool }) => tool === name);
  return found === undefined ? null : { approval: found.approval };
}

function judgeChanges(live: Judge | null, planned: Judge | null): ConfigChange[] {
  if (live === null || planned === null) {
    return live === planned ? [] : [hide(difference("judge", null, live, planned))];
  }
  return (Object.keys(planned) as (keyof Judge)[]).flatMap((field) => {
    if (isDeepStrictEqual(live[field], planned[field])) return [];
    const change = difference("judge", field, live[field], planned[field]);
    return [hiddenOfJudge.has(field) ? hide(change) : change];
  });
}

function difference(part: ConfigChange["part"], name: string | null, was: unknown, now: unknown): ConfigChange {
  return { part, name, kind: was === null ? "added" : now === null ? "removed" : "changed", was, now };
}

function hide(change: ConfigChange): ConfigChange {
  return { ...change, was: null, now: null };
}
