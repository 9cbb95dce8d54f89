/**
 * The import direction of the architecture: storage <- runtime <- actors <- http; inside actors by `actors/areas.json`,
 * a list of lines. An area imports from earlier lines only, never from the others of its own line, types included.
 */
const lines = require("./actors/areas.json");

const pathOf = (areas) => `^actors/(${areas.join("|")})(/|\\.ts$)`;

const areaRules = [
  ...lines.flatMap((line, index) =>
    line.map((area) => ({
      name: `actors-${area}-knows-earlier-lines`,
      comment: `actors/${area} imports from earlier lines of actors/areas.json: what looks like an upward need is a fact, a gate, an index or an owner.`,
      severity: "error",
      from: { path: pathOf([area]) },
      to: { path: "^actors/", pathNot: pathOf([area, ...lines.slice(0, index).flat()]) },
    })),
  ),
  ...["from", "to"].map((end) => ({
    name: `actors-area-in-a-line-${end}`,
    comment: "A folder or file of actors/ stands in a line of actors/areas.json.",
    severity: "error",
    ...{ from: {}, to: {} },
    [end]: { path: "^actors/.+\\.ts$", pathNot: pathOf(lines.flat()) },
  })),
];

module.exports = {
  forbidden: [
    {
      name: "no-circles-of-values",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-circles",
      comment: "Types count: put the type where the lower of the two files can take it from.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "storage-knows-nothing",
      severity: "error",
      from: { path: "^storage/" },
      to: { path: "^(runtime|actors|http|test|bench)/" },
    },
    {
      name: "runtime-knows-storage",
      severity: "error",
      from: { path: "^runtime/" },
      to: { path: "^(actors|http|test|bench)/" },
    },
    { name: "actors-know-no-http", severity: "error", from: { path: "^actors/" }, to: { path: "^(http|test|bench)/" } },
    { name: "http-is-the-edge", severity: "error", from: { path: "^http/" }, to: { path: "^(test|bench)/" } },
    {
      name: "http-knows-no-table",
      comment: "The edge asks the queries and views of an area, or the actor itself.",
      severity: "error",
      from: { path: "^http/" },
      to: { path: "^actors/.+\\.table\\.ts$" },
    },
    {
      name: "http-knows-no-storage",
      comment: "Only the process and the programs on a store open and close stores; the edge reads through the runtime.",
      severity: "error",
      from: { path: "^http/", pathNot: "^http/(process|cli/store)/" },
      to: { path: "^storage/" },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-development-packages-in-the-product",
      severity: "error",
      from: { path: "^(storage|runtime|actors|http)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    ...areaRules,
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: "specify",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      // Some packages hold types alone.
      mainFields: ["main", "types"],
    },
  },
};
