import t from "tap";
import {
  toEditedNote,
  toFailureMessage,
  toFailureText,
  toHookOutput,
  toOutputText,
} from "../../../actors/tool-calls/request-result.js";

const bytes = (text: unknown) => Buffer.byteLength(typeof text === "string" ? text : JSON.stringify(text));

t.test("a failure is one sentence and at most 2 KiB of the answer's text, without tags", async (t) => {
  const message = toFailureMessage("tracker.comment", { code: "rejected", reason: "it responded 404", method: "POST" });
  t.equal(message, "tracker.comment failed: it responded 404.");
  const text = (response: unknown) => toFailureText(message, { response: JSON.stringify(response) });
  t.equal(text("<p>No <br/>such\n<i>item</i></p>"), `${message}\n\nNo such\n item`);
  t.equal(text({ error: "gone" }), `${message}\n\n{"error":"gone"}`);
  t.equal(text("2 < 3 and <3"), `${message}\n\n2 < 3 and <3`, "what is no tag stays");
  t.equal(toFailureText(message, { response: null }), message);
  t.equal(text("<br>"), message);
  const long = text("ä".repeat(5_000)).slice(message.length + 2);
  t.equal(bytes(long), 2_048);
  t.equal(long, "ä".repeat(1_024), "never cut within a character");
});

t.test("a person's inputs are told in at most 2,000 characters, never cut within a character", async (t) => {
  t.equal(toEditedNote('{"text":"Better"}'), 'A person changed the inputs of this call to {"text":"Better"}.');
  const lead = "A person changed the inputs of this call to ";
  const most = `{"a":"${"x".repeat(1_992)}"}`;
  t.equal(toEditedNote(most), `${lead}${most}.`);
  const long = toEditedNote(`${"x".repeat(1_998)}\u{1f600}more`);
  t.equal(long, `${lead}${"x".repeat(1_998)}….`);
});

t.test("where the answer was lost, what was to be changed may have been", async (t) => {
  const [reset, refused] = ["nothing responded (ECONNRESET)", "nothing responded (ECONNREFUSED)"];
  const late = "there was no response in the time left";
  const told = (code: "timeout" | "unreachable" | "errored", reason: string, method: string) =>
    toFailureMessage("t.x", { code, reason, method });
  const unknown = "It is not known whether it happened.";
  t.equal(told("timeout", late, "POST"), `t.x failed: ${late}. ${unknown}`);
  t.equal(told("unreachable", reset, "DELETE"), `t.x failed: ${reset}. ${unknown}`);
  t.equal(told("timeout", late, "GET"), `t.x failed: ${late}.`);
  t.equal(told("errored", "its response is not HTTP", "POST").endsWith(unknown), true);
  const unsent = { code: "unreachable", reason: refused, method: "POST", isUnsent: true } as const;
  t.equal(toFailureMessage("t.x", unsent), `t.x failed: ${refused}.`);
});

t.test("an answer made of brackets is read in little time", async (t) => {
  const hostile = ["<".repeat(60_000), "<a".repeat(30_000), "<script>".repeat(8_000), `<a ${"=".repeat(60_000)}`];
  for (const response of hostile) t.ok(bytes(toFailureText("m", { response: JSON.stringify(response) })) < 2_100);
});

t.test("an output is told as text, or as JSON", async (t) => {
  t.equal(toOutputText('"Hello"', null), "Hello");
  t.equal(toOutputText('{"id":1}', "a capture has no value"), '{"id":1}');
  t.equal(toOutputText(null, null), "Done.");
  t.equal(
    toOutputText(null, "`output` has no value: a"),
    "The call succeeded, but its result cannot be shown: `output` has no value: a.",
  );
});

t.test("hooks see an output as it is up to 16 KiB, then the beginning of its text", async (t) => {
  t.same(toHookOutput('{"id":1}'), { id: 1 });
  t.equal(toHookOutput(null), null);
  const list = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => n));
  t.equal(toHookOutput(list), list.slice(0, 16 * 1024));
});
