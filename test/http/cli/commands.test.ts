import t from "tap";
import { listCommands } from "../../../http/cli/program.js";
import { accountCases } from "./account/account-cases.js";
import { devCases } from "./dev/dev-cases.js";
import { statusCases } from "./status/status-cases.js";

/** The programs that parse their own arguments have tests of their own. */
const programs = [
  ..."serve runner check backup restore dead-letters doctor compact rebuild-directory recount-bodies".split(" "),
];

t.test("every command has a case of the table test", async (t) => {
  const cases = [...accountCases, ...devCases, ...statusCases].map(({ name }) => name);
  t.same(listCommands(), [...programs, ...cases].sort());
});
