import { tagGroups } from "./tags.js";

/** The addresses of the page's scripts. */
export const EXPLORER_PATH = "/docs/explorer.js";
export const PAGE_SCRIPT_PATH = "/docs/page.js";

// Headings for the groups of tags. The explorer would show each group's tag, which has no operations, as a menu entry;
// the heading replaces this entry.
const groupHeadings = tagGroups.map(({ name }) => `<h2 slot="nav-tag--${name}">${name}</h2>`).join("\n");

/** The page that shows the OpenAPI document. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signalbox API</title>
<link rel="icon" href="data:,">
<style>
body{margin:0}
openapi-explorer{--font-regular:system-ui,sans-serif}
h2{margin:0;padding:20px 16px 4px;font:600 12px system-ui,sans-serif;letter-spacing:.08em;text-transform:uppercase;
opacity:.7}
</style>
<script type="module" src="${EXPLORER_PATH}"></script>
<script type="module" src="${PAGE_SCRIPT_PATH}"></script>
</head>
<body><openapi-explorer collapse="true" hide-server-selection="true">
${groupHeadings}
</openapi-explorer></body>
</html>
`;

/**
 * The script of the page. It shows the document with its tags in groups. If an operation takes an `Idempotency-Key` and
 * the reader enters none, the script sends a new key with each request. It does not use `crypto.randomUUID`, which
 * browsers offer only over https and on localhost.
 */
export const pageScript = `const KEY = "Idempotency-Key";
const explorer = document.querySelector("openapi-explorer");
const keyed = [];

const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

explorer.addEventListener("request", ({ detail: { request } }) => {
  const { pathname } = new URL(request.url);
  const takesKey = keyed.some(({ method, path }) => method === request.method && path.test(pathname));
  if (takesKey && !request.headers.has(KEY)) request.headers.set(KEY, newKey());
});

function groupTags(spec) {
  const tags = new Map(spec.tags.map((tag) => [tag.name, tag]));
  spec.tags = spec["x-tagGroups"].flatMap((group) => [
    { name: group.name },
    ...group.tags.map((name) => ({ ...tags.get(name), parent: group.name })),
  ]);
}

function fillKeys(spec) {
  const references = new Set();
  for (const [name, parameter] of Object.entries(spec.components.parameters)) {
    if (parameter.name !== KEY) continue;
    references.add("#/components/parameters/" + name);
    parameter.required = false;
    parameter.description += " If the field is empty, this page sends a new key with each request.";
    parameter.example = "a new key for each request";
  }
  for (const [path, item] of Object.entries(spec.paths)) {
    const pattern = new RegExp("^" + path.replace(/[{][^}]+[}]/g, "[^/]+") + "$");
    for (const [method, { parameters = [] }] of Object.entries(item)) {
      if (!parameters.some(({ $ref }) => references.has($ref))) continue;
      keyed.push({ method: method.toUpperCase(), path: pattern });
    }
  }
}

const answer = await fetch("/api/openapi.json");
if (answer.ok) {
  const spec = await answer.json();
  groupTags(spec);
  fillKeys(spec);
  await customElements.whenDefined("openapi-explorer");
  await explorer.loadSpec(spec);
} else {
  const { detail } = await answer.json().catch(() => ({ detail: "" }));
  document.body.textContent = "The service did not return the API document. " + detail + " Reload the page to try again.";
}
`;
