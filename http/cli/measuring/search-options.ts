import type { Schema } from "../../client/entry.js";

type Search = Schema<"Search">;

/** What a search improves. */
export const objectives = ["success", "cost"] as const satisfies readonly Search["objective"][];

/** The effort levels of an agent. */
export const efforts = [
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly Search["agent"]["effort"][];
