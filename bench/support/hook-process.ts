import { inFolder } from "./hook-events.js";
import { serveRounds } from "./hook-rounds.js";
import { type HookSide, hookSides } from "./hook-sides.js";

// A process that delivers events by the side that is named, to the receiver at the address that is given.
const [name = "", url = ""] = process.argv.slice(2);
const side: HookSide | undefined = hookSides.find((each) => each.name === name);
if (side === undefined) throw new Error(`there is no side ${name}`);

await inFolder(async (store) => serveRounds(await side.open(store, url)));
