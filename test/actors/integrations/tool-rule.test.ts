import t from "tap";
import { findApprover } from "../../../actors/integrations/tool-rule.js";

t.test("the stricter of the team's rule and the person's rule wins", async (t) => {
  t.equal(findApprover({ team: false, person: false }), null);
  t.equal(findApprover({ team: true, person: false }), "assignee", "a person cannot make it laxer");
  t.equal(findApprover({ team: false, person: true }), "person", "only they approve what is asked by their own rule");
  t.equal(findApprover({ team: true, person: true }), "person");
});
