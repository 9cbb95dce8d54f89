import t from "tap";
import type { RunConfig } from "../../../../actors/lines/fingerprint.js";
import { changeParts, listConfigChanges } from "../../../../actors/replays/candidates/config-changes.js";
import { fullConfig, judge, withStation } from "../../../support/run-config.js";

const [app, docs] = fullConfig.repositories;
if (app === undefined || docs === undefined) throw new Error("the config has two repositories");
const withRepositories = (...repositories: RunConfig["repositories"]) => ({ ...fullConfig, repositories });
const profile = { args: ["zsh"], env: {}, secrets: {}, timeoutMinutes: null };

const change = (part: string, name: string | null, kind: string, [was, now]: readonly unknown[] = [null, null]) => ({
  part,
  name,
  kind,
  was,
  now,
});

const cases: readonly [planned: RunConfig, changes: readonly object[]][] = [
  [withStation({ prompt: "Work well." }), [change("prompt", null, "changed")]],
  [withStation({ prompt: "" }), [change("prompt", null, "removed")]],
  [withStation({ harness: "other" }), [change("harness", null, "changed", ["command", "other"])]],
  [withStation({ model: null }), [change("model", null, "removed", ["small", null])]],
  [withStation({ effort: "high" }), [change("effort", null, "changed", ["low", "high"])]],
  [withStation({ decisions: true }), [change("decisions", null, "changed", [false, true])]],
  [{ ...withStation({ profile: null }), profile: null }, [change("profile", null, "removed", ["shell", null])]],
  [{ ...withStation({ profile: "b" }), profile }, [change("profile", null, "changed", ["shell", "b"])]],
  [{ ...fullConfig, profile }, [change("profile", null, "changed")]],
  [{ ...fullConfig, skills: [{ key: "greet", digest: "a" }] }, [change("skill", "test", "removed")]],
  [
    {
      ...fullConfig,
      skills: [
        { key: "greet", digest: "other" },
        { key: "more", digest: "c" },
        { key: "test", digest: "b" },
      ],
    },
    [change("skill", "greet", "changed"), change("skill", "more", "added")],
  ],
  [
    withStation({ tools: [{ tool: "tracker.find", approval: true }] }),
    [
      change("tool", "tracker.find", "changed", [{ approval: false }, { approval: true }]),
      change("tool", "tracker.open", "removed", [{ approval: true }, null]),
    ],
  ],
  [
    withRepositories(app, { ...docs, image: "docs:2" }),
    [change("image", "acme/docs", "changed", ["docs:1", "docs:2"])],
  ],
  [withRepositories({ ...app, image: "app:1" }, docs), [change("image", "acme/app", "added", [null, "app:1"])]],
  [
    withRepositories({ ...app, setup: null }, docs),
    [change("repository", "acme/app", "changed", [{ setup: "make" }, { setup: null }])],
  ],
  [
    withRepositories(app),
    [
      change("repository", "acme/docs", "removed", [{ setup: null }, null]),
      change("image", "acme/docs", "removed", ["docs:1", null]),
    ],
  ],
  [
    withRepositories(app, docs, { name: "acme/new", setup: null, image: null }),
    [change("repository", "acme/new", "added", [null, { setup: null }])],
  ],
  [withStation({ judge: null }), [change("judge", null, "removed")]],
  [
    withStation({ judge: { ...judge, rubric: "Is it?", claims: [], model: "large", passShare: 1 } }),
    [
      change("judge", "rubric", "changed"),
      change("judge", "claims", "changed"),
      change("judge", "passShare", "changed", [0.5, 1]),
      change("judge", "model", "added", [null, "large"]),
    ],
  ],
  [withStation({ check: null, diffs: true, timeoutMinutes: 5 }), []],
];

t.test("the differences of two configs are listed part by part, contents by their digests", async (t) => {
  for (const [planned, changes] of cases)
    t.same(listConfigChanges(fullConfig, planned), changes, JSON.stringify(changes));
  t.same(listConfigChanges(fullConfig, fullConfig), []);
});

t.test("the order of skills, tools and repositories is no difference; every part but memories is listed", async (t) => {
  const { skills, repositories, station } = fullConfig;
  const turned = withStation({ tools: [...station.tools].reverse() });
  const planned = { ...turned, skills: [...skills].reverse(), repositories: [...repositories].reverse() };
  t.same(listConfigChanges(fullConfig, planned), []);
  const listed = new Set(cases.flatMap(([config]) => listConfigChanges(fullConfig, config).map(({ part }) => part)));
  t.same(
    changeParts.filter((part) => !listed.has(part)),
    ["memories"],
  );
});
