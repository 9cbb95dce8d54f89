import type { RunConfig } from "../../actors/lines/fingerprint.js";

export const judge: NonNullable<RunConfig["station"]["judge"]> = {
  rubric: "Is it good?",
  scale: "yes-no",
  passScore: null,
  claims: ["It greets."],
  passShare: 0.5,
  model: null,
};

/** The config of a run, with all parts. */
export const fullConfig: RunConfig = {
  station: {
    key: "work",
    kind: "work",
    harness: "command",
    model: "small",
    effort: "low",
    profile: "shell",
    prompt: "Work.",
    skills: ["greet", "test"],
    judge,
    check: "make check",
    diffs: false,
    decisions: false,
    tools: [
      { tool: "tracker.find", approval: false },
      { tool: "tracker.open", approval: true },
    ],
    timeoutMinutes: 60,
  },
  skills: [
    { key: "greet", digest: "a" },
    { key: "test", digest: "b" },
  ],
  profile: { args: ["sh"], env: { LEVEL: "low" }, secrets: { TOKEN: "forge" }, timeoutMinutes: 30 },
  repositories: [
    { name: "acme/app", setup: "make", image: null },
    { name: "acme/docs", setup: null, image: "docs:1" },
  ],
};

/** Returns the full config with changes to its station. */
export function withStation(station: Partial<RunConfig["station"]>): RunConfig {
  return { ...fullConfig, station: { ...fullConfig.station, ...station } };
}
