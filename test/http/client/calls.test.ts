import t from "tap";
import { compileSnippets } from "../../support/compile.js";

/** Calls that must not compile, and a part of the compiler's message. */
const mistakes: Readonly<Record<string, readonly [call: string, message: RegExp]>> = {
  path: ['client.get("/api/no-such-thing")', /"\/api\/no-such-thing"' is not assignable/],
  method: ['client.delete("/api/teams/{teamId}/tasks", { path: { teamId: "t" } })', /is not assignable/],
  parameter: ['client.get("/api/tasks/{taskId}", { path: { id: "t" } })', /'id' does not exist|'taskId' is missing/],
  noParameter: ['client.get("/api/tasks/{taskId}")', /Expected 2 arguments/],
  query: ['client.get("/api/teams/{teamId}/tasks", { path: { teamId: "t" }, query: { stat: "queued" } })', /'stat'/],
  missing: [
    'client.post("/api/teams/{teamId}/tasks", { path: { teamId: "t" }, body: { title: "T" } })',
    /'line' is missing/,
  ],
  type: [
    'client.post("/api/teams/{teamId}/tasks", { path: { teamId: "t" }, body: { title: 1, line: "dev" } })',
    /'number' is not assignable to type 'string'/,
  ],
  more: [
    'client.post("/api/teams/{teamId}/tasks", { path: { teamId: "t" }, body: { title: "T", line: "dev", lines: 1 } })',
    /'lines' does not exist/,
  ],
  version: ['client.delete("/api/resources/lines/{id}", { path: { id: "l" } })', /'version' is missing/],
  answer: [
    'const { titel } = await client.get("/api/tasks/{taskId}", { path: { taskId: "t" } }); titel',
    /'titel' does not exist/,
  ],
  cursor: [
    'listAll(client, "/api/teams/{teamId}/hook-occurrences", "after", { path: { teamId: "t" } })',
    /"after"' is not assignable to parameter of type '"before"'/,
  ],
  list: ['listAll(client, "/api/tasks/{taskId}", "before", { path: { taskId: "t" } })', /is not assignable/],
};

const right = `
const task = await client.post("/api/teams/{teamId}/tasks", { path: { teamId: "t" }, body: { title: "T", line: "dev" } });
const state: string = task.state;
const none: null = await client.delete("/api/resources/lines/{id}", { path: { id: "l" }, version: 1 });
for await (const { id } of listAll(client, "/api/teams/{teamId}/hook-occurrences", "before", { path: { teamId: "t" } })) id satisfies string;
export { none, state };
`;

t.test("a wrong path, method, body, version or answer does not compile", (t) => {
  const head = 'import { createClient, listAll } from "../../http/client/entry.js";\nconst client = createClient();\n';
  const calls = Object.fromEntries(
    Object.entries(mistakes).map(([name, [call]]) => [
      name,
      `${head}export const made = () => 0;\nawait (async () => { ${call}; })();\nvoid listAll;\n`,
    ]),
  );
  const said = compileSnippets({ ...calls, right: head + right });
  t.equal(said.right, "");
  for (const [name, [call, message]] of Object.entries(mistakes)) t.match(said[name], message, call);
  t.end();
});
