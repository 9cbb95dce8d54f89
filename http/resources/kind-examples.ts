/** Returns a body for the creation of a resource of a kind. `n` makes its address unique. */
export type ExampleBody = (n: number) => Record<string, unknown>;

const signingSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/**
 * An example body for each kind, for the documentation and the contract tests. The tests must allow `hooks.example.com`
 * as a host of hooks.
 */
export const exampleBodies = {
  workspace: (n) => ({ slug: `space-${n}`, name: "Space" }),
  team: (n) => ({ key: `team-${n}`, name: "Team" }),
  line: (n) => ({
    key: `line-${n}`,
    name: "Line",
    stations: [
      { key: "work", name: "Work", kind: "work", passesTo: ["review"] },
      { key: "review", name: "Review", kind: "review", passesTo: [] },
    ],
  }),
  hook: (n) => ({
    key: `hook-${n}`,
    on: "task.moved",
    steps: [{ name: "tell", request: { url: "https://hooks.example.com/in" } }],
    signing: { secret: signingSecret, secretVersion: 1 },
  }),
  secret: (n) => ({ name: `secret-${n}`, value: `canary-value-${n}`, valueVersion: 1 }),
  "workspace-token": (n) => ({ name: `token-${n}`, scopes: ["read"] }),
  "runner-pool": (n) => ({ key: `pool-${n}` }),
  skill: (n) => ({ key: `skill-${n}`, name: "Skill", files: [{ path: "SKILL.md", content: "# Review checklist\n" }] }),
  "harness-profile": (n) => ({ key: `profile-${n}`, args: ["agent"], env: { LEVEL: "high" } }),
  integration: (n) => ({
    integration: `tracker-${n}`,
    name: "Tracker",
    hosts: ["api.example.com"],
    actions: { comment: { request: { url: "https://api.example.com/comments", body: { text: "Hello" } } } },
    tools: { comment: { description: "Adds a comment.", action: "comment", approval: true } },
  }),
  "replay-candidate": (n) => ({
    name: `Another prompt ${n}`,
    station: { key: "work", name: "Work", kind: "work", prompt: `Solve the task in ${n} steps.`, passesTo: ["review"] },
  }),
  "workspace-token-trust": (n) => ({
    key: `trust-${n}`,
    issuer: "https://ci.example.com",
    subject: "repo:acme/app:*",
    scopes: ["read"],
  }),
  "runner-trust": (n) => ({
    key: `trust-${n}`,
    issuer: "https://hosts.example.com",
    subject: "host-1",
    pools: ["trusted"],
  }),
  "workspace-runners": (n) => ({ maxConcurrentRuns: n + 1 }),
} as const satisfies Readonly<Record<string, ExampleBody>>;

export function findExampleBody(kindName: string): ExampleBody | undefined {
  const bodies: Readonly<Record<string, ExampleBody>> = exampleBodies;
  return bodies[kindName];
}
