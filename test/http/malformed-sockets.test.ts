import fc from "fast-check";
import t from "tap";
import type WebSocket from "ws";
import { writeJson } from "../../actors/exact-json.js";
import { openWorkplace } from "../support/workplace.js";
import { json, noJson } from "./malformed-requests.js";

/** `SEED=… node …` sends the same frames again. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
t.comment(`seed ${seed}`);

const FRAMES = 300;
/**
 * Signalbox's close codes, and three codes of the WebSocket protocol: for frames that are not text, for invalid UTF-8,
 * and for frames that are too long.
 */
const REFUSED = [1003, 1007, 1009, 4400, 4409, 4503];

const said = {
  hello: {
    frame: "hello",
    protocol: 1,
    runnerId: null,
    instance: "0123456789abcdef",
    name: "peer",
    version: "1",
    labels: [],
    harnesses: ["command"],
    slots: 0,
    received: 0,
    claims: [],
  },
  message: { frame: "message", n: 1, ack: 0, message: { type: "run.started", runId: "run_1", fence: 1 } },
  ack: { frame: "ack", ack: 0 },
  beat: { frame: "beat", ack: 0, claims: [], beat: 1 },
  subscribe: { subscribe: "team/x", after: 0 },
  unsubscribe: { unsubscribe: "team/x" },
};

/** A valid frame with one field made invalid, any JSON, or text that is not JSON; as text or as bytes. */
const frame = fc.oneof(
  fc.tuple(fc.constantFrom(...Object.values(said)), fc.nat(), json).map(([sound, place, value]) => {
    const keys = Object.keys(sound);
    return writeJson({ ...sound, [keys[place % keys.length] ?? ""]: value });
  }),
  json.map((value) => writeJson(value) ?? ""),
  noJson,
);

/**
 * Resolves with the close code of the socket, or with null once the service has answered the message after the frame.
 */
function findFate(socket: WebSocket, frame: string | Buffer, after: { readonly say: string; readonly wanted: RegExp }) {
  return new Promise<number | null>((resolve, reject) => {
    socket.once("close", resolve).once("error", reject);
    socket.on("message", (data) => {
      if (after.wanted.test(data.toString())) resolve(null);
    });
    socket.send(frame);
    socket.send(after.say);
  });
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, no frame on any socket makes the service fail`, async (t) => {
    const { service, ada, teamId, token } = await openWorkplace(t, { settings: { TRANSPORT } });
    const readers = { path: "/api/stream", client: ada, first: null };
    const runners = { path: "/api/runner", client: service.withToken(token), first: JSON.stringify(said.hello) };
    const ends = {
      [readers.path]: { say: JSON.stringify({ subscribe: `team/${teamId}` }), wanted: /"kind":"snapshot"/ },
      [runners.path]: { say: JSON.stringify({ ...said.beat, beat: 77 }), wanted: /"beat":77/ },
    };
    const peers = fc.constantFrom(readers, runners, { ...runners, first: null });
    await fc.assert(
      fc.asyncProperty(peers, frame, async ({ path, client, first }, sent) => {
        const socket = client.socket(path);
        try {
          await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
          if (first !== null) socket.send(first);
          const end = ends[path] ?? { say: "", wanted: /^$/ };
          const code = await findFate(socket, sent, end);
          if (code !== null && !REFUSED.includes(code)) throw new Error(`closed with ${code}`);
        } finally {
          socket.terminate();
        }
      }),
      { seed, numRuns: FRAMES },
    );
    t.equal((await service.anonymous.request("GET", "/readyz")).status, 200);
    t.same(
      service.logLines.filter((line) => /"level":"(error|fatal)"/.test(line)),
      [],
      "nothing was logged as an error",
    );
  });
}
