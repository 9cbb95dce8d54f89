import t from "tap";
import { needsField, readsName } from "../../../actors/expressions/reads-name.js";
import { expr } from "../../support/integration.js";

t.test("a name is read where it stands for its value", async (t) => {
  for (const source of ["target", "target.to", "[1].map(x, target)"]) t.ok(readsName(expr(source), "target"), source);
  for (const source of ["body.target", "'target'", "size(body)"]) t.notOk(readsName(expr(source), "target"), source);
  t.notOk(readsName("target", "target"), "a text without expressions");
});

t.test("a field is needed where it is read, and nothing asks whether it is there", async (t) => {
  const isNeeded = (text: string) => needsField(text, { name: "target", field: "channel" });
  const needing = ["target.channel", "target.`channel`", 'target["channel"]', "[1].map(x, target.channel)"];
  for (const source of needing) t.ok(isNeeded(`to ${expr(source)}`), source);
  t.ok(isNeeded(`${expr("has(target.channel)")} ${expr("target.channel")}`), "each expression by itself");
  const free = [
    "target.to",
    "body.target.channel",
    "'target.channel'",
    "has(target.channel) ? target.channel : 'C9'",
    '"channel" in target ? target.channel : "C9"',
    "target.",
  ];
  for (const source of free) t.notOk(isNeeded(expr(source)), source);
  t.notOk(isNeeded("target.channel"), "a text without expressions");
});
