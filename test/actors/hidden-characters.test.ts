import t from "tap";
import { hasHiddenCharacters, replaceHiddenCharacters } from "../../actors/hidden-characters.js";

const hidden = [
  "\u0000",
  "\n",
  "\u0085",
  "\u00ad",
  "\u061c",
  "\u200b",
  "\u200e",
  "\u2028",
  "\u202e",
  "\u2060",
  "\ufeff",
];

t.test("characters that hide text, break a line or change the direction are found and replaced", async (t) => {
  for (const character of hidden) {
    const code = `U+${character.codePointAt(0)?.toString(16)}`;
    t.ok(hasHiddenCharacters(`A${character}b`), code);
    t.equal(replaceHiddenCharacters(`A${character}b${character}`), "A b ", code);
  }
});

t.test("names in any script stay as they are", async (t) => {
  const names = [
    "Core",
    "Zo\u00eb \u{1f469}\u200d\u{1f680}",
    "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
    "\u0915\u094d\u200d\u0937",
  ];
  for (const [n, name] of names.entries()) {
    t.notOk(hasHiddenCharacters(name), `name ${n}`);
    t.equal(replaceHiddenCharacters(name), name, `name ${n}`);
  }
});
