import { defineArea } from "../area.js";
import { harnessProfileKind } from "./harness-profile.kind.js";
import { lineKind } from "./line.kind.js";
import { pullRequestTermsWalks } from "./line.migration.js";
import { skillKind } from "./skill.kind.js";

/** Lines with their stations, and the skills and harness profiles that stations use. */
export const linesArea = defineArea({
  name: "lines",
  kinds: (deployment: { readonly judges?: boolean }) => [skillKind, harnessProfileKind, lineKind(deployment)],
  migrations: [{ to: 10, title: "lines say how pull requests are opened", walks: pullRequestTermsWalks }],
});
