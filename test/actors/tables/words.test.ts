import t from "tap";
import { areFound, splitWords, toSearchedWords } from "../../../actors/tables/words.js";

const finds = (q: string, title: string) => areFound(toSearchedWords(q), splitWords(title));

t.test("a text is split into words of letters and digits of any script", async (t) => {
  t.same(splitWords("Fix: the API's rate-limit (v2)!"), ["fix", "the", "api", "s", "rate", "limit", "v2"]);
  t.same(splitWords("größe 日本語 हिन्दी ÀÉ"), ["größe".replace("ß", "ss"), "日本語", "हिन्दी", "àé"]);
  t.same(splitWords("the The THE"), ["the"]);
  t.same(splitWords("closes #12 and foo#13"), ["closes", "#12", "12", "and", "foo", "#13", "13"]);
  for (const text of ["", "  ", "-_!?", "🚀", "\u0000\uD800"]) t.same(splitWords(text), [], JSON.stringify(text));
});

t.test("each word begins a word of the title, in any case and order", async (t) => {
  const title = "The login page fails on Straße ΟΔΟΣ";
  for (const q of ["log", "LOGIN", "pa lo", "fail the", "strasse", "STRASSE", "οδος", "οδοσ", "ｌｏｇｉｎ", "log-pa"]) {
    t.ok(finds(q, title), q);
  }
  for (const q of ["ogin", "login pages", "x", "", " ", "!", "logi n"]) t.notOk(finds(q, title), JSON.stringify(q));
  t.ok(finds("#12", "Closes #12"));
  for (const title of ["Closes #123", "12", "v12"]) t.notOk(finds("#12", title), title);
  t.ok(finds("12", "Closes #123"));
});

t.test("long words are cut in titles and in searches alike", async (t) => {
  const long = "x".repeat(500);
  t.same(splitWords(long), ["x".repeat(40)]);
  t.ok(finds(long, `a ${long}`));
  const pairs = `a${"𝒜".repeat(300)}`;
  t.ok(
    splitWords(pairs).every((word) => word.isWellFormed()),
    "no half of a surrogate pair is left",
  );
});
