/** The import direction of the architecture: storage <- runtime <- actors <- http; inside actors by layers. */
const layers = [
  ["tables"],
  ["resources", "expressions", "outbound", "export"],
  ["workspaces"],
  ["access"],
  ["runners", "integrations", "code-host"],
  ["lines"],
  ["events"],
  ["tasks"],
  ["hooks", "replays"],
];

/** Types of a later layer are allowed where a border type stands there (who the caller is); values never. */
const layerRules = layers.flatMap((areas, index) => {
  const later = layers.slice(index + 1).flat();
  if (later.length === 0) return [];
  return [
    {
      name: `actors-layer-${index + 1}`,
      comment: `actors/${areas.join(", ")} may not import from the areas built on them: use a fact, a gate or an index.`,
      severity: "error",
      from: { path: `^actors/(${areas.join("|")})/` },
      to: { path: `^actors/(${later.join("|")})/`, dependencyTypesNot: ["type-only"] },
    },
  ];
});

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
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
      name: "engines-are-handed-the-catalogue",
      comment: "Only the edge and tests import the catalogues.",
      severity: "error",
      from: { path: "^actors/.+/" },
      to: { path: "^actors/(kinds|actor-types|subscriptions|run-owners|migrations)\\.ts$" },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-development-packages-in-the-product",
      severity: "error",
      from: { path: "^(storage|runtime|actors|http)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    ...layerRules,
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: "specify",
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
