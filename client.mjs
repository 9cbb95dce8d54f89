import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";

/**
 * Generates `http/client/api.d.ts`, the types of the client, from the route table:
 *
 * 1. Starts the service of this source tree on an empty store.
 * 2. Reads the service's OpenAPI document and converts it to types.
 *
 * Skips these two steps if neither the source nor this file has changed since the last run. In both cases, writes the
 * client to `dist/client`, in the form that the package exports.
 */

const target = "http/client/api.d.ts";

const program = `
import { readConfig } from "./http/process/config.js";
import { createLog } from "./http/process/log.js";
import { startService } from "./http/process/service.js";
import { problems } from "./http/wire/problem.js";

export async function readDocument(folder) {
  const service = await startService({ config: readConfig({ DATA_DIR: folder, PORT: "0" }), log: createLog("error", process.stderr) });
  const answer = await fetch(\`http://127.0.0.1:\${service.port}/api/openapi.json\`);
  const document = await answer.json();
  await service.stop();
  return { document, slugs: Object.keys(problems) };
}
`;

const { outputFiles } = await build({
  stdin: { contents: program, resolveDir: ".", loader: "ts" },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  write: false,
  logLevel: "warning",
});
const [{ text: service }] = outputFiles;
const digest = createHash("sha256").update(service).update(readFileSync("client.mjs")).digest("hex");
const head = `// Generated from the route table by client.mjs. Source: ${digest}\n`;
if (!existsSync(target) || !readFileSync(target, "utf8").startsWith(head)) await generate();
await writePackage();

async function generate() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-types-"));
  // The name of the bundle's file. The file is in the current folder, so that Node finds the packages that the bundle
  // imports.
  const file = `dist-service-${process.pid}.mjs`;
  try {
    writeFileSync(file, service);
    const { readDocument } = await import(pathToFileURL(file).href);
    const { document, slugs } = await readDocument(folder);
    // Set `defaultNonNullable` to false. Otherwise a field with a default becomes required in the types of bodies.
    const options = { defaultNonNullable: false, immutable: true };
    const written = astToString(await openapiTypescript(shorten(document), options));
    const types = written.replace(/^ +readonly \w+\?: never;\n/gm, "").replaceAll("    ", "  ");
    const names = `/** The type of a problem without its prefix. */\nexport type ProblemSlug = ${JSON.stringify(slugs).slice(1, -1).replaceAll(",", " | ")};\n`;
    writeFileSync(`${target}.${process.pid}`, `${head}\n${names}\n${types}`);
    renameSync(`${target}.${process.pid}`, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(file, { force: true });
  }
}

/**
 * Keeps only the parts that calls and hook receivers need: path and query parameters, required headers, JSON bodies,
 * and success responses.
 */
function shorten(document) {
  const headers = { IfMatch: "If-Match", IdempotencyKey: "Idempotency-Key" };
  const shortenParameter = (parameter) => {
    const header = headers[parameter.$ref?.split("/").at(-1)];
    if (header !== undefined) return { in: "header", name: header, required: true, schema: { type: "string" } };
    return parameter.in === "path" || parameter.in === "query" ? withoutExample(parameter) : [];
  };
  const shortenOperation = ({ operationId, summary, parameters = [], requestBody, responses }) => ({
    operationId,
    summary,
    parameters: parameters.flatMap(shortenParameter),
    requestBody: requestBody && { ...requestBody, content: withoutExamples(requestBody.content) },
    responses: Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => status.startsWith("2"))
        .map(([status, { description, content }]) => [status, { description, content: withoutExamples(content) }]),
    ),
  });
  const shortenItems = (items) => mapValues(items, (item) => mapValues(item, shortenOperation));
  const [paths, webhooks] = [shortenItems(document.paths), shortenItems(document.webhooks)];
  return { ...document, paths, webhooks, components: { schemas: document.components.schemas } };
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

function withoutExamples(content = {}) {
  return Object.fromEntries(Object.entries(content).map(([type, media]) => [type, withoutExample(media)]));
}

function withoutExample({ example: _, ...rest }) {
  return rest;
}

/** Bundles the client's code, and writes a declaration file for each of its sources. */
async function writePackage() {
  mkdirSync("dist/client", { recursive: true });
  await build({
    entryPoints: ["http/client/entry.ts"],
    outfile: "dist/client/entry.js",
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning",
  });
  copyFileSync(target, "dist/client/api.d.ts");
  for (const name of readdirSync("http/client")) {
    if (!/(?<!\.d)\.ts$/.test(name)) continue;
    const source = readFileSync(`http/client/${name}`, "utf8");
    const options = { isolatedDeclarations: true, declaration: true, module: ts.ModuleKind.NodeNext };
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
      fileName: name,
      compilerOptions: options,
    });
    if (diagnostics.length > 0)
      throw new Error(`${name}: ${JSON.stringify(diagnostics.map((one) => one.messageText))}`);
    writeFileSync(`dist/client/${name.replace(/\.ts$/, ".d.ts")}`, outputText);
  }
}
