/**
 * The import direction of the architecture: storage <- runtime <- actors <- http; inside actors by the lines of
 * `actors/areas.ts`, inside http by the lines of `http/areas.json`. An area imports from earlier lines only, never from the
 * others of its own line, types included. A program of http stands apart: no line imports it, and it imports only what it
 * lists.
 */
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const { lines: httpLines, programs } = require("./http/areas.json");

/** Files of actors/ that all areas may import, and those that follow from all areas. */
const ground = [
  ["permission", "caller", "sealer", "time-text", "fraction", "exact-json", "view"],
  ["refusal", "money", "well-formed", "opener", "in-steps", "hidden-characters"],
];
const top = [["area"], ["areas"], ["doctor"], ["catalogue"]];

/** The lines of `actors/areas.ts`: the folder of each manifest that it imports, or the name of an area without one. */
const areas = readAreaLines(readFileSync(join(__dirname, "actors/areas.ts"), "utf8"));
const actors = [...ground, ...areas, ...top];

function readAreaLines(source) {
  const imported = source.matchAll(/^import \{ (?:type \w+, )?(\w+) \} from "\.\/([\w-]+)\/\2\.area\.js";$/gm);
  const folders = new Map([...imported].map(([, area, folder]) => [area, folder]));
  const [, list = ""] = /export const areaLines = \[\n([^;]*?)\n\] as const;/.exec(source) ?? [];
  return list.split(/\],/).flatMap((line) => {
    const names = [...line.matchAll(/name: "([\w-]+)"|\b(\w+Area)\b(?!\()/g)].map(
      ([, name, area]) => name ?? folders.get(area) ?? area,
    );
    return names.length === 0 ? [] : [names];
  });
}

/** Folders and files, named without their ending, as a pattern. */
const pathOf = (names) => `^(${names.join("|").replaceAll(".", "\\.")})(/|\\.ts$)`;
/** The same of names inside a folder. */
const pathIn = (folder, names) => pathOf(names.map((name) => `${folder}/${name}`));

/** The manifest of an area, which may also import the type of manifests. Only the list of areas imports it. */
const MANIFEST = "^actors/([\\w-]+)/\\1\\.area\\.ts$";

/** The parts of http in lines. The line "areas" has every other folder: a new area needs no entry. */
const named = [...httpLines.flat(), ...Object.keys(programs).map((program) => program.split("/")[0])];
const folders = readdirSync(join(__dirname, "http"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !named.includes(entry.name))
  .map(({ name }) => name);
const http = httpLines.map((line) => (line === "areas" ? folders : line));

/** The rules of a folder whose areas stand in lines. `advice` says what to do instead of an import that they refuse. */
const lineRules = (folder, lines, advice) =>
  lines.flatMap((line, index) =>
    line.map((area) => ({
      name: `${folder}-${area}-knows-earlier-lines`,
      comment: `${folder}/${area} imports from earlier lines only: ${advice}`,
      severity: "error",
      from: { path: pathIn(folder, [area]), pathNot: MANIFEST },
      to: { path: `^${folder}/`, pathNot: pathIn(folder, [area, ...lines.slice(0, index).flat()]) },
    })),
  );

/** Refuses what stands in no line of a folder, whether it imports or is imported. */
const strayRules = (folder, listed) =>
  ["from", "to"].map((end) => ({
    name: `${folder}-area-in-a-line-${end}`,
    comment: `A folder or file of ${folder}/ stands in a line: actors/areas.ts, http/areas.json.`,
    severity: "error",
    from: {},
    to: {},
    [end]: { path: `^${folder}/.+\\.ts$`, pathNot: pathIn(folder, listed) },
  }));

const programRules = Object.entries(programs).map(([program, imports]) => ({
  name: `http-${program.replaceAll("/", "-")}-stands-apart`,
  comment: `http/${program} is a program: it imports its own files and those that http/areas.json lists for it.`,
  severity: "error",
  from: { path: pathIn("http", [program]) },
  to: { path: "^(storage|runtime|actors|http)/", pathNot: pathOf([`http/${program}`, ...imports]) },
}));

const manifestRules = [
  ...areas.flatMap((line, index) =>
    line.map((area) => ({
      name: `actors-${area}-manifest-knows-earlier-lines`,
      comment: `The manifest of actors/${area} imports the area and earlier lines.`,
      severity: "error",
      from: { path: `^actors/${area}/${area}\\.area\\.ts$` },
      to: {
        path: "^actors/",
        pathNot: pathIn("actors", [area, "area", ...ground.flat(), ...areas.slice(0, index).flat()]),
      },
    })),
  ),
  {
    name: "manifests-are-for-the-list",
    comment: "Only actors/areas.ts imports manifests. Engines get what they need as arguments.",
    severity: "error",
    from: { pathNot: "^(actors/areas\\.ts$|test/)" },
    to: { path: MANIFEST },
  },
];

const areaRules = [
  ...manifestRules,
  ...lineRules("actors", actors, "what looks like an upward need is a fact, a gate, an index or an owner."),
  ...strayRules("actors", actors.flat()),
  ...lineRules("http", http, "what several areas need stands in wire, or in actors/."),
  ...strayRules("http", [...http.flat(), ...Object.keys(programs)]),
  ...programRules,
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
      comment:
        "Only the process and the programs on a store open and close stores; the edge reads through the runtime.",
      severity: "error",
      from: { path: "^http/", pathNot: "^http/(process|cli/store)/" },
      to: { path: "^storage/" },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-development-packages-in-the-product",
      severity: "error",
      from: { path: "^(storage|runtime|actors|http)/" },
      // Optional peers stand among the development packages too, for the tests.
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only", "npm-peer"] },
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
