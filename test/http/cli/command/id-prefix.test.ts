import t from "tap";
import { pickId } from "../../../../http/cli/command/id-prefix.js";

const [first, second] = ["task_01M83Z897SPPSGRFWJW7VW88QK", "task_01M83Z897SPPSGRFWJW7VW88QR"];
const listed = [first, second];

t.test("an id is named by a unique prefix, in any case, with or without its kind", (t) => {
  for (const text of [first, first.toLowerCase(), first.slice("task_".length), first.slice(5).toLowerCase()]) {
    t.equal(pickId(text, listed), first, text);
  }
  t.equal(pickId("task_01", [second]), second);
  t.end();
});

t.test("an ambiguous prefix is refused with the ids, and a text without an id is returned", (t) => {
  t.throws(() => pickId("01m8", listed), { message: `01m8 is ambiguous: it is the prefix of ${first}, ${second}` });
  for (const text of ["task_02", "run_01M83Z", "first!"]) t.equal(pickId(text, [first]), text);
  t.end();
});

t.test("an id that is the prefix of another id names itself", (t) => {
  const event = "occ_01M83Z897SPPSGRFWJW7VW88QK";
  t.equal(pickId(event, [`${event}-7VW88QKA`, event]), event);
  t.equal(pickId(`${event}-7V`, [`${event}-7VW88QKA`, event]), `${event}-7VW88QKA`);
  t.end();
});
