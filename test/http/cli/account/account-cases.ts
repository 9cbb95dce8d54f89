import type { CommandCase } from "../../../support/command-cases.js";

export const accountCases: readonly CommandCase[] = [
  {
    name: "login",
    args: async ({ service }) => [service.baseUrl, "--link", await service.linkFor("ada@example.com")],
    prints: /^signed in to http:\S+ as ada@example\.com$/,
    json: { email: "ada@example.com", workspaces: ["acme"] },
    wrong: ["ftp://example.com"],
  },
  {
    name: "use",
    args: () => ["acme/core"],
    prints: /^default team of this folder: acme\/core$/,
    json: { workspace: "acme", team: "core" },
    wrong: [],
  },
  {
    name: "whoami",
    args: () => [],
    prints: /^service +http:\S+\nperson +ada <ada@example\.com>\nworkspaces +acme\ndefault team +acme\/core$/,
    json: { name: "ada", workspaces: [{ slug: "acme" }], workspace: "acme", team: "core" },
    wrong: ["--no-such-option"],
  },
  {
    name: "logout",
    args: async ({ service, signalbox }) => {
      await signalbox.run(["login", service.baseUrl, "--link", await service.linkFor("ada@example.com")]);
      return [];
    },
    prints: /^signed out of http/,
    json: { url: /^http/ },
    wrong: ["--no-such-option"],
  },
];
