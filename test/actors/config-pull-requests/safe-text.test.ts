import t from "tap";
import { disarm, escapeMarkdown } from "../../../actors/config-pull-requests/safe-text.js";

const MAIL = "ada.lovelace+x@mail.example.com";

t.test("what an agent wrote notifies nobody, closes, links and skips nothing", async (t) => {
  const cases: readonly [string, RegExp][] = [
    ["ask @octocat and @acme/core, also \uFF20octocat and @\u200boctocat", /@|\uFF20/],
    [`write to ${MAIL}`, /ada|lovelace|mail\.example|@/],
    ["Fixes #12, closes acme/app#3, resolves GH-4; see ABC-77 \uFF034", /#|\uFF03|GH-4|ABC-77/],
    ["Fixes https://code.example/acme/app/issues/12", /https?:|issues\/12/],
    ["see http://evil.example/x?y, www.evil.example, ftp://a.b, HTTPS://A.B", /evil|ftp|:\/\/|www/i],
    ["[click](javascript:alert(1)) ![x](//evil.example/a.png) [a]: b", /[[\]]|alert/],
    ["mailto:someone", /mailto/],
    ["[skip ci] [ci skip] [no ci] [skip actions] skip-checks: true", /\[|skip-checks/],
    ["task_01J0000000000000000ABCDEFG run_01j0000000000000000abcdefg", /01J0000/i],
    ["as in 4f2c9a1d0b, 0123456789012345678901234567890123456789", /4f2c9a1d0b|01234567/],
    ["one\r\n\r\nCo-authored-by: x\u2028two\u0000\u202e", /\p{Cc}|\u2028|\u202e/u],
    ["half \ud83d of one", /\ud83d/],
  ];
  for (const [n, [text, forbidden]] of cases.entries()) t.notMatch(disarm(text), forbidden, `case ${n}`);
  t.equal(
    disarm("It fixes gpt-5's habit: read first, then (perhaps) write."),
    "It fixes gpt-5's habit: read first, then (perhaps) write.",
  );
  t.equal(disarm("\u00e9t\u00e9 \ud83d\ude00"), "\u00e9t\u00e9 \ud83d\ude00");
});

t.test("what is disarmed stays so when it is disarmed again, and after Unicode has its way with it", async (t) => {
  for (const text of [
    "\uFF20\uFF20a",
    "##1",
    "GHGH-1",
    "hthttp://tp://x",
    "[[x]]",
    "@@a@b.c@d.e",
    "&#64;octocat &commat;x",
  ]) {
    const once = disarm(text);
    t.equal(disarm(once), once);
    t.notMatch(once.normalize("NFKC"), /@|#\d|GH-\d|:\/\/|[[\]]/);
  }
});

t.test("it has 500 characters at most, whole ones, however long what was written is", async (t) => {
  t.equal(disarm("x ".repeat(1_000)).length, 500);
  t.match(disarm("x ".repeat(1_000)), /…$/);
  t.equal(disarm("x".repeat(500)).length, 500);
  const emoji = disarm("\ud83d\ude00".repeat(400));
  t.notMatch(emoji, /\p{Cs}/u);
  t.ok(emoji.length <= 500);
  for (const text of ["@", "#", "www.", "a@", "a.", "1", "\n", "[", "h://", "A-"]) {
    const begunMs = process.cpuUsage().user;
    t.ok(disarm(text.repeat(200_000)).length <= 500);
    t.ok(process.cpuUsage().user - begunMs < 5_000_000, `${JSON.stringify(text)} is no trap`);
  }
});

t.test("Markdown shows it as it is", async (t) => {
  t.equal(
    escapeMarkdown("a *b* _c_ `d` ~e~ | <img src=x> &amp; \\ !$x$"),
    "a \\*b\\* \\_c\\_ \\`d\\` \\~e\\~ \\| &lt;img src=x&gt; &amp;amp; \\\\ \\!\\$x\\$",
  );
});
