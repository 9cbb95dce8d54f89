import type { FilePiece } from "../../actors/export/workspace-export.js";

/**
 * Encodes `{ "files": [{ "path", "content" }] }` as JSON, one piece per step of the export. Steps do not split
 * surrogate pairs, so the text does not depend on the step boundaries.
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
