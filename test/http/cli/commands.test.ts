import t from "tap";
import { listCommands } from "../../../http/cli/program.js";
import { accountCases } from "./account/account-cases.js";
import { deliveryCases } from "./connections/deliveries-cases.js";
import { trustCases } from "./connections/trusts-cases.js";
import { devCases } from "./dev/dev-cases.js";
import { hookCases } from "./hooks/hooks-cases.js";
import { measuringCases } from "./measuring/measuring-cases.js";
import { statusCases } from "./status/status-cases.js";
import { workCases } from "./work/work-cases.js";

/** Programs that parse their own arguments. They have tests of their own. */
const programs = [
  ..."serve runner check backup restore dead-letters doctor compact rebuild-directory recount-bodies".split(" "),
];

t.test("every command has a case of the table test", async (t) => {
  const cases = [
    ...accountCases,
    ...deliveryCases,
    ...devCases,
    ...hookCases,
    ...measuringCases,
    ...statusCases,
    ...trustCases,
    ...workCases,
  ].map(({ name }) => name);
  t.same(listCommands(), [...programs, ...cases].sort());
});
