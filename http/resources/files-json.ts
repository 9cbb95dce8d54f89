import type { FilePiece } from "../../actors/export/workspace-export.js";

/**
 * `{ "files": [{ "path", "content" }] }` as JSON text, a step of the export at a time. No piece ends within a
 * surrogate pair, so that the text is the same wherever pieces end.
 */
export function* filesJson(steps: Iterable<readonly FilePiece[]>): Generator<string> {
  let path: string | null = null;
  let json = '{"files":[';
  for (const step of steps) {
    for (const piece of step) {
      if (piece.path !== path) {
        json += `${path === null ? "" : '"},'}{"path":${JSON.stringify(piece.path)},"content":"`;
        path = piece.path;
      }
      json += JSON.stringify(piece.text).slice(1, -1);
    }
    yield json;
    json = "";
  }
  yield path === null ? "]}" : '"}]}';
}
