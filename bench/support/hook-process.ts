import { inFolder } from "./hook-events.js";
import { serveRounds } from "./hook-rounds.js";
import { type HookSide, hookSides } from "./hook-sides.js";

// Delivers events by the named side to the receiver at the given address.
const [name = "", url = ""] = process.argv.slice(2);
const side: HookSide | undefined = hookSides.find((each) => each.name === name);
if (side === undefined) throw new Error(`there is no side ${name}`);

await inFolder(async (store) => serveRounds(await side.open(store, url)));
