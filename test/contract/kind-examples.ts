import { exampleBodies } from "../../http/resources/kind-examples.js";

/**
 * The inputs of the contract tests for one kind. The tests run for every kind of the catalogue. The bodies for creating
 * resources are in `http/resources/kind-examples.ts`, because the OpenAPI document uses them too.
 */
export interface KindExample {
  /** Resources that must exist in the workspace first, because the bodies refer to them. */
  readonly needs?: readonly { readonly collection: string; readonly body: Record<string, unknown> }[];
  /** Returns the body of an update; `n` makes the resource's address unique. Null for a kind that has no updates. */
  readonly updated: ((n: number) => Record<string, unknown>) | null;
  /** An update that changes an immutable field, and the field's path; null for a kind without such a field. */
  readonly fixed: { readonly body: (n: number) => Record<string, unknown>; readonly path: string } | null;
  /** Whether a workspace has at most one resource of this kind. */
  readonly isAlone?: true;
  /** A body that the kind's rules reject, and the path in the error. */
  readonly wrong: { readonly body: Record<string, unknown>; readonly path: string };
}

const {
  "replay-candidate": candidate,
  integration,
  line,
  skill,
  "workspace-token-trust": trust,
  "runner-trust": hostTrust,
} = exampleBodies;
const hook = (n: number) => {
  const { signing: _signing, ...rest } = exampleBodies.hook(n);
  return rest;
};

/** Settings that the examples require. */
export const exampleSettings = { OUTBOUND_ALLOW: "hooks.example.com" };

export const kindExamples: Readonly<Record<string, KindExample>> = {
  workspace: {
    updated: (n) => ({ slug: `space-${n}`, name: "Another name" }),
    fixed: { body: (n) => ({ slug: `other-${n}`, name: "Space" }), path: "slug" },
    wrong: { body: { slug: "Not a slug", name: "Space" }, path: "slug" },
  },
  team: {
    updated: (n) => ({ key: `team-${n}`, name: "Another name" }),
    fixed: { body: (n) => ({ key: `other-${n}`, name: "Team" }), path: "key" },
    wrong: { body: { key: "team", name: "" }, path: "name" },
  },
  line: {
    updated: (n) => ({ ...line(n), name: "Another name" }),
    fixed: { body: (n) => ({ ...line(n), key: `other-${n}` }), path: "key" },
    wrong: {
      body: { ...line(0), stations: [{ key: "work", name: "Work", kind: "work", passesTo: ["nowhere"] }] },
      path: "stations[0].passesTo[0]",
    },
  },
  skill: {
    updated: (n) => ({ ...skill(n), files: [...skill(n).files, { path: "scripts/run.sh", content: "true\n" }] }),
    fixed: { body: (n) => ({ ...skill(n), key: `other-${n}` }), path: "key" },
    wrong: { body: { ...skill(0), files: [{ path: "../SKILL.md", content: "" }] }, path: "files[0].path" },
  },
  "harness-profile": {
    updated: (n) => ({ key: `profile-${n}`, timeoutMinutes: 5 }),
    fixed: { body: (n) => ({ key: `profile-${n}`, harness: "other" }), path: "harness" },
    wrong: { body: { key: "profile", secrets: { API_KEY: "not-there" } }, path: "secrets.API_KEY" },
  },
  integration: {
    updated: (n) => ({ ...integration(n), name: "Another name", tools: {} }),
    fixed: { body: (n) => ({ ...integration(n), integration: `other-${n}` }), path: "integration" },
    wrong: { body: { ...integration(0), tools: { "odd-1": { action: "none" } } }, path: 'tools["odd-1"].action' },
  },
  hook: {
    updated: (n) => ({ ...hook(n), timeoutSeconds: 5, signing: { secretVersion: 1 } }),
    fixed: { body: (n) => ({ ...hook(n), key: `other-${n}`, signing: { secretVersion: 1 } }), path: "key" },
    wrong: { body: { ...hook(0), signing: { secret: "whsec_short", secretVersion: 1 } }, path: "signing.secret" },
  },
  secret: {
    updated: (n) => ({ name: `secret-${n}`, valueVersion: 1, hosts: ["example.com"] }),
    fixed: { body: (n) => ({ name: `other-${n}`, valueVersion: 1 }), path: "name" },
    wrong: { body: { name: "secret", valueVersion: 1 }, path: "value" },
  },
  "workspace-token": {
    updated: (n) => ({ name: `token-${n}`, scopes: ["read"], description: "for the robot" }),
    fixed: { body: (n) => ({ name: `token-${n}`, scopes: ["plan"] }), path: "scopes" },
    wrong: { body: { name: "token", scopes: ["secrets"] }, path: "scopes" },
  },
  "workspace-token-trust": {
    updated: (n) => ({ ...trust(n), lifetimeMinutes: 5, claims: { actor: "deploy-*" } }),
    fixed: { body: (n) => ({ ...trust(n), key: `other-${n}` }), path: "key" },
    wrong: { body: { ...trust(0), subject: "repo:*" }, path: "subject" },
  },
  "replay-candidate": {
    updated: null,
    fixed: null,
    wrong: { body: { ...candidate(0), name: "Live config of old" }, path: "name" },
  },
  "workspace-runners": {
    updated: () => ({ defaultPool: null }),
    fixed: null,
    isAlone: true,
    wrong: { body: { defaultPool: "not-there" }, path: "defaultPool" },
  },
  "runner-pool": {
    updated: (n) => ({ key: `pool-${n}`, labels: ["gpu"] }),
    fixed: { body: (n) => ({ key: `other-${n}` }), path: "key" },
    wrong: { body: { key: "pool", kind: "push" }, path: "push" },
  },
  "runner-trust": {
    needs: [{ collection: "runner-pools", body: { key: "trusted" } }],
    updated: (n) => ({ ...hostTrust(n), audience: "runners" }),
    fixed: { body: (n) => ({ ...hostTrust(n), key: `other-${n}` }), path: "key" },
    wrong: { body: { ...hostTrust(0), pools: ["trusted", "nowhere"] }, path: "pools[1]" },
  },
};
