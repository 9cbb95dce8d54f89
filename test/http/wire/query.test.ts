import t from "tap";
import { z } from "zod";
import { cursor, pageSize } from "../../../http/wire/paging.js";
import { parseQuery } from "../../../http/wire/query.js";

const schema = z.strictObject({ before: cursor.optional(), limit: pageSize(), note: z.string().optional() });

t.test("parameters are read by the schema, decoded, with defaults filled in", async (t) => {
  t.same(parseQuery(schema, ""), { data: { limit: 50 } });
  t.same(parseQuery(schema, "before=a_1&limit=7&note=a%20b+c%3D"), {
    data: { before: "a_1", limit: 7, note: "a b c=" },
  });
});

t.test("each parameter that is wrong is named, one that is given twice too", async (t) => {
  const wrong: Readonly<Record<string, string>> = {
    "limit=0&before=%00":
      "before: must be 1 to 100 letters, digits, - or _, as an earlier page shows it\nlimit: must be at least 1",
    "limit=1&limit=1": "limit: must be given once",
    "note=a&limit=1&note=&limit=2&note=c": "note: must be given once\nlimit: must be given once",
    "odd=1": "odd: is not a field here",
  };
  for (const [query, detail] of Object.entries(wrong)) {
    t.same(parseQuery(schema, query), { refused: "bad-request", detail }, query);
  }
});
