import t from "tap";
import { withoutMentions } from "../../../../actors/outbound/code-host/without-mentions.js";

const W = "\u200b";

t.test("what would mention somebody does not, however it is written; everything else stays as it is", async (t) => {
  const mentions: readonly (readonly [string, string])[] = [
    ["@ada", `@${W}ada`],
    ["see @acme/everyone, (@bob) and _@carol_", `see @${W}acme/everyone, (@${W}bob) and _@${W}carol_`],
    ["\\@ada @@ada é@ada", `\\@${W}ada @@${W}ada é@${W}ada`],
    [
      "&#64;ada &#0064;ada &#x40;ada &#X040;ada &commat;ada",
      ["&#64;", "&#0064;", "&#x40;", "&#X040;", "&commat;"].map((at) => `${at}${W}ada`).join(" "),
    ],
    ["@&#97;da a&#64;&#97;da", `@${W}&#97;da a&#64;${W}&#97;da`],
    ["`@Injectable()`", `\`@${W}Injectable()\``],
  ];
  for (const [text, quiet] of mentions) t.equal(withoutMentions(text), quiet);
  for (const text of ["", "ada@example.com", "a @ b", "@", "x = @[1]", "&amp;@ "]) t.equal(withoutMentions(text), text);
  const once = withoutMentions("@ada &#64;bob");
  t.equal(withoutMentions(once), once, "done twice is done once");
});
