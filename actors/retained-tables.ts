import { changeRetention } from "./resources/change-record.table.js";
import type { RetentionCatalogue } from "./tables/retention-sweeper.machine.js";

/**
 * What is removed some time after its end (`tables/retention.ts`): the rules of tables, in the order of a pass, and the
 * rows that belong to other rows and go after them.
 */
export const retainedTables: RetentionCatalogue = {
  rules: [changeRetention],
  owned: [],
};
