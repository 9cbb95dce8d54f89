import { deflateSync } from "node:zlib";
import t from "tap";
import { faultOfPack } from "../../../actors/archives/classify-archive.js";
import { makeCommit } from "./archive-scene.js";

const { commit, parent, bytes } = makeCommit({ "a.txt": "one\n", "b.txt": "two\n".repeat(1_000) });

/** Returns a pack that starts with one object of this type and content. `says` is the length in the object's header. */
function readPack(type: number, content: Buffer, { says = content.length, objects = 3, version = 2 } = {}): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK", "latin1");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(objects, 8);
  const head: number[] = [];
  let rest = Math.floor(says / 16);
  head.push((type << 4) | (says % 16) | (rest > 0 ? 128 : 0));
  for (; rest > 0; rest = Math.floor(rest / 128)) head.push((rest % 128) | (rest >= 128 ? 128 : 0));
  return Buffer.concat([header, Buffer.from(head), deflateSync(content), Buffer.alloc(40)]);
}

t.test("a pack of git that begins with the commit is taken", async (t) => {
  t.equal(faultOfPack(bytes, commit), null);
  t.equal(faultOfPack(bytes.subarray(0, 1_000), commit), null, "its beginning is enough");
});

t.test("anything else is not", async (t) => {
  const text = Buffer.from("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nNone\n");
  const faults: readonly (readonly [string, Buffer, string])[] = [
    ["a different commit", bytes, parent],
    ["a commit of another hash", bytes, "a".repeat(64)],
    ["nothing", Buffer.alloc(0), commit],
    ["no pack", Buffer.alloc(1_000), commit],
    ["a cut header", bytes.subarray(0, 13), commit],
    ["a cut commit", bytes.subarray(0, 40), commit],
    ["an unknown pack version", readPack(1, text, { version: 9 }), commit],
    ["one object", readPack(1, text, { objects: 1 }), commit],
    ["a blob first", readPack(3, text), commit],
    ["a different commit's text", readPack(1, text), commit],
    ["a commit that is longer than it says", readPack(1, Buffer.alloc(1_000_000), { says: 100 }), commit],
    ["a commit that is shorter than it says", readPack(1, text, { says: 1_000 }), commit],
    ["a commit beyond all measure", readPack(1, Buffer.alloc(5_000_000)), commit],
    ["a length without end", Buffer.concat([readPack(1, text).subarray(0, 12), Buffer.alloc(30, 255)]), commit],
  ];
  for (const [name, pack, of] of faults) t.type(faultOfPack(pack, of), "string", name);
});
