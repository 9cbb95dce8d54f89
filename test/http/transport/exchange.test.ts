import t from "tap";
import { writeInPieces } from "../../../http/transport/exchange.js";

const row = (n: number) => ({ id: `task_${n}`, title: `"${n}" \u2028 é`, none: undefined, list: [n, null], at: null });
const rows = (count: number) => Array.from({ length: count }, (_, n) => row(n));

t.test("the text is that of JSON.stringify, and long lists give others their turn", async (t) => {
  for (const [body, most] of [
    [{ items: rows(100), next: null }, 3],
    [{ first: rows(51), second: rows(26), left: undefined }, 3],
    [{ items: rows(25), next: "x" }, 0],
    [{ items: [...rows(26), undefined, () => 1] }, 1],
    [rows(3), 0],
    [{}, 0],
    [null, 0],
    ["text", 0],
    [{ 'odd "name': rows(30) }, 1],
    [{ inner: { items: rows(100) } }, 0],
  ] as const) {
    let pauses = 0;
    const text = await writeInPieces(body, async () => {
      pauses += 1;
    });
    t.equal(text, JSON.stringify(body));
    t.equal(pauses, most);
  }
});
