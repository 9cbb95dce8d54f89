import t from "tap";
import {
  type RunConfig,
  toFingerprint,
  toRunningFingerprint,
  toScoringFingerprint,
} from "../../../actors/lines/fingerprint.js";
import { fullConfig, judge, withStation } from "../../support/run-config.js";

const judging = { defaultModel: "large", promptVersion: 1 };
const scoring = (config: RunConfig) => toScoringFingerprint(config, judging);
const [app, docs] = fullConfig.repositories;
if (app === undefined || docs === undefined) throw new Error("the config has two repositories");

/**
 * Config changes. For each change: whether it changes the fingerprint of running, and whether it changes the
 * fingerprint of scoring.
 */
const changes: readonly [what: string, changed: RunConfig, running: boolean, scored: boolean][] = [
  ["harness", withStation({ harness: "other" }), true, false],
  ["model", withStation({ model: null }), true, false],
  ["effort", withStation({ effort: "high" }), true, false],
  ["prompt", withStation({ prompt: "Work well." }), true, false],
  ["decisions", withStation({ decisions: true }), true, false],
  ["timeoutMinutes", withStation({ timeoutMinutes: 30 }), true, false],
  ["profile", withStation({ profile: "other" }), true, false],
  ["a tool less", withStation({ tools: fullConfig.station.tools.slice(1) }), true, false],
  ["a tool's approval", withStation({ tools: [{ tool: "tracker.find", approval: true }] }), true, false],
  [
    "the profile's content",
    { ...fullConfig, profile: { args: [], env: {}, secrets: {}, timeoutMinutes: null } },
    true,
    false,
  ],
  ["a skill's content", { ...fullConfig, skills: [{ key: "greet", digest: "c" }] }, true, false],
  ["a repository less", { ...fullConfig, repositories: [app] }, true, false],
  ["an image", { ...fullConfig, repositories: [{ ...app, image: "app:1" }, docs] }, true, false],
  ["a setup", { ...fullConfig, repositories: [{ ...app, setup: null }, docs] }, true, false],
  ["check", withStation({ check: null }), false, true],
  ["no judge", withStation({ judge: null }), false, true],
  ["rubric", withStation({ judge: { ...judge, rubric: "Is it?", claims: [] } }), false, true],
  ["claims", withStation({ judge: { ...judge, claims: ["It greets.", "It ends."] } }), false, true],
  ["the judge's model", withStation({ judge: { ...judge, model: "small" } }), false, true],
  ["diffs", withStation({ diffs: true }), false, false],
];

t.test("each fingerprint has its own parts of the config, and that of the run has all of them", async (t) => {
  for (const [what, changed, running, scored] of changes) {
    t.not(toFingerprint(changed), toFingerprint(fullConfig), what);
    t.equal(toRunningFingerprint(changed) !== toRunningFingerprint(fullConfig), running, `how runs go: ${what}`);
    t.equal(scoring(changed) !== scoring(fullConfig), scored, `scoring: ${what}`);
  }
});

t.test("the order of skills and of tools does not tell how runs go", async (t) => {
  const { skills, station } = fullConfig;
  const turned = {
    ...withStation({ tools: [...station.tools].reverse(), skills: [...station.skills].reverse() }),
    skills: [...skills].reverse(),
  };
  t.equal(toRunningFingerprint(turned), toRunningFingerprint(fullConfig));
});

t.test("scoring depends on the model that answers, by whichever way it is named, and on our prompt", async (t) => {
  const named = withStation({ judge: { ...judge, model: "large" } });
  t.equal(scoring(named), scoring(fullConfig));
  t.not(toScoringFingerprint(fullConfig, { ...judging, defaultModel: "small" }), scoring(fullConfig));
  t.equal(toScoringFingerprint(named, { ...judging, defaultModel: "small" }), scoring(named));
  t.not(toScoringFingerprint(fullConfig, { ...judging, promptVersion: 2 }), scoring(fullConfig));
  const unjudged = withStation({ judge: null });
  t.equal(toScoringFingerprint(unjudged, { defaultModel: null, promptVersion: 2 }), scoring(unjudged));
});

t.test("the fingerprint of a run is the one that runs of earlier releases have", async (t) => {
  t.equal(toFingerprint(fullConfig), "5e7e415d7fbb0765b7f34b4dba6f6850a70e3430453d26482538ab576ed5dd8d");
});
