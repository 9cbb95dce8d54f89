import type { CommandCase } from "../../../support/command-cases.js";

export const statusCases: readonly CommandCase[] = [
  {
    name: "status",
    args: () => [],
    prints:
      /^service +http:\S+\nrelease +\d+\.\d+\.\d+\nstore format +\d+\nuptime +\d+ \w+\nlast backup +unknown\nworkspace +acme\nqueue +0 tasks queued, 0 running\nrunners +0 connected, 0 of 0 slots free\nfailing hooks +none$/,
    json: {
      release: /^\d+\./,
      storeFormat: Number,
      startedAt: /Z$/,
      backupAt: null,
      queued: 0,
      running: 0,
      runners: { connected: 0, slots: 0, free: 0 },
      failingHooks: [],
    },
    wrong: ["--no-such-option"],
  },
];
