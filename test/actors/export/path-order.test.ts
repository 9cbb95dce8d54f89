import fc from "fast-check";
import t from "tap";
import { byCodeUnits, inPathOrder } from "../../../actors/export/path-order.js";

const word = fc.stringMatching(/^[a-c0-1]{1,2}$/);
const slug = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join("-"));
const address = fc.tuple(slug, slug).map((keys) => keys.join("/"));

t.test("locations in address order are sorted by the paths below them", async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(address, { maxLength: 60 }), (addresses) => {
      const places = addresses.sort(byCodeUnits).map((each) => ({ address: each }));
      const paths = [...inPathOrder(places)].map((place) => `${place.address}/x.md`);
      t.same(paths, addresses.map((each) => `${each}/x.md`).sort(byCodeUnits));
    }),
  );
});

t.test("at most as many locations are held back as an address has parts", async (t) => {
  let read = 0;
  const places = function* () {
    for (let n = 0; n < 1_000; n++) {
      read += 1;
      yield { address: `app/key${String(n).padStart(4, "0")}` };
    }
  };
  let given = 0;
  for (const _place of inPathOrder(places())) {
    given += 1;
    t.ok(read - given <= 1);
  }
  t.equal(given, 1_000);
});
