/** The content of a JSON configuration file, or of an object in it. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Number of labels that each block type has in JSON, where labels are nested object keys. Block types that are not
 * listed have no labels.
 */
export const LABELS: ReadonlyMap<string, number> = new Map([
  ...["resource", "data", "ephemeral", "action", "list"].map((type) => [type, 2] as const),
  ...["module", "variable", "output", "provider", "component", "backend", "run", "check"].map(
    (type) => [type, 1] as const,
  ),
  ...["deployment", "deployment_group", "deployment_auto_approve", "identity_token", "store", "unit", "stack"].map(
    (type) => [type, 1] as const,
  ),
]);

/** Whether a configuration file has Terraform's JSON syntax. */
export function isJson(path: string): boolean {
  return path.endsWith(".json");
}

/** Matches a JSON string. If the string is a member name, also matches the colon after it. */
const TEXT = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Reads a JSON file. Returns null if the file is not one JSON object. Also returns null if an object repeats a name:
 * Terraform reads both values, but `JSON.parse` reads only the last.
 */
export function readJson(text: string): Fields | null {
  try {
    const json: unknown = JSON.parse(text);
    const names = [...text.matchAll(TEXT)].filter(([, colon]) => colon !== undefined).length;
    return isFields(json) && countNames(json) === names ? json : null;
  } catch {
    return null;
  }
}

function countNames(json: Fields): number {
  let count = 0;
  const open: unknown[] = [json];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const below: readonly unknown[] = Array.isArray(each) ? each : isFields(each) ? Object.values(each) : [];
    if (isFields(each)) count += below.length;
    for (const one of below) open.push(one);
  }
  return count;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes a JSON value as an HCL expression. A string becomes a template. But a string that is only `${…}` becomes the
 * expression inside the braces.
 */
export function toExpression(value: unknown): string {
  if (typeof value === "string") return fromTemplate(value);
  if (Array.isArray(value)) return `[${value.map(toExpression).join(", ")}]`;
  if (!isFields(value)) return JSON.stringify(value);
  return `{\n${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)} = ${toExpression(each)}\n`)
    .join("")}}`;
}

function fromTemplate(template: string): string {
  const alone = /^\$\{([^{}]*)\}$/.exec(template)?.[1];
  if (alone !== undefined) return alone.includes("\n") ? `(${alone})` : alone.trim();
  if (!/[$%]\{/.test(template)) return JSON.stringify(template);
  // In an HCL string, quotes in plain text are escaped, but quotes within an interpolation are not. A heredoc needs no
  // escapes.
  if (!/["\\\n]/.test(template)) return `"${template}"`;
  let end = "END";
  while (template.includes(end)) end += "_";
  return `<<${end}\n${template}\n${end}\n`;
}
