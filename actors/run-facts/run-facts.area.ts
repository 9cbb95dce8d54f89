import { defineArea } from "../area.js";
import { pullRequestFactRetention } from "./pull-request-fact.table.js";
import { reviewFactRetention } from "./review-fact.table.js";
import { factRetention } from "./run-fact.table.js";
import { stayRetention } from "./stay.table.js";

/** Records for figures: one for each ended run, pull request, review, and stay at a station. */
export const runFactsArea = defineArea({
  name: "run-facts",
  tables: [factRetention, pullRequestFactRetention, reviewFactRetention, stayRetention],
});
