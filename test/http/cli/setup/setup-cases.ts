import type { CommandCase } from "../../../support/command-cases.js";

let tokens = 0;

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
];
