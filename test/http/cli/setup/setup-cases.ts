import type { CommandCase } from "../../../support/command-cases.js";

let tokens = 0;
let revoked = 0;

export const setupCases: readonly CommandCase[] = [
  {
    name: "init",
    args: () => ["--team", "acme/core", "--repository", "acme/app"],
    prints:
      /^workspace +acme \(exists\)\nteam +core \(exists\)\nrunner pool +main \(created\)\nline +main \(work, review\) \(created\)\nnext +start a runner on any machine: SIGNALBOX_POOL_TOKEN=\S+ signalbox runner --url http:\S+ --command <program>\nthen +signalbox task open/,
    json: {
      workspace: { slug: "acme", isNew: false },
      pool: { key: "main", token: null, isNew: false },
      line: { key: "main", stations: ["work", "review"], isNew: false },
    },
    wrong: ["--repository", "acme/app"],
  },
  {
    name: "secret set",
    args: () => ["npm-token", "--host", "registry.example.com"],
    input: "hunter2\n",
    prints: /^created the secret npm-token in acme: version 1, for registry\.example\.com$/,
    json: { name: "npm-token", valueVersion: 2, hosts: ["registry.example.com"] },
    wrong: ["npm-token", "hunter2"],
  },
  {
    name: "token create",
    args: () => {
      tokens += 1;
      return [`ci-${tokens}`, "--scope", "read,configure", "--scope", "secrets", "--expires", "90d"];
    },
    prints: /^\S+$/,
    json: { name: "ci-2", scopes: ["read", "configure", "secrets"], token: /^\S+$/, expiresAt: /^20/ },
    wrong: ["ci", "--scope", "all"],
  },
  {
    name: "token list",
    args: () => [],
    prints:
      /^ID +NAME +SCOPES +CREATED +EXPIRES +DESCRIPTION\ntok_\w{26} +ci-1 +read, configure, secrets +20\S+Z +20\S+Z +-\n/,
    json: { items: [{ name: "ci-1" }, { name: "ci-2", scopes: ["read", "configure", "secrets"] }], hasMore: false },
    wrong: ["all"],
  },
  {
    name: "token revoke",
    args: () => {
      revoked += 1;
      return [`ci-${revoked}`, "--yes"];
    },
    prints: /^revoked the token ci-1 \(tok_\w{26}\) of acme$/,
    json: { name: "ci-2", scopes: ["read", "configure", "secrets"] },
    wrong: [],
  },
  {
    name: "pool list",
    args: () => [],
    prints: /^POOL +KIND +RUNNERS +FREE SLOTS +MAX RUNS +LABELS +ID\nmain +pull +0 +0 of 0 +- +- +pool_\w{26}$/,
    json: { items: [{ key: "main", kind: "pull", runners: { connected: 0 } }], hasMore: false },
    wrong: ["main"],
  },
  {
    name: "pool rotate",
    args: () => ["main", "--yes"],
    prints: /^[\w-]{43}$/,
    json: { key: "main", kind: "pull", token: /^[\w-]{43}$/ },
    wrong: [],
  },
];
