import ts from "typescript";

/**
 * Returns why a text is not well-formed XML, as far as pictures need it; an empty list if it is. TypeScript parses the
 * elements as JSX. JSX allows attributes without quotes or values, and checks no entities, so those are checked here.
 */
export function listSvgFaults(text: string): readonly string[] {
  // Rules of a style sheet have braces, which would be expressions in JSX.
  const styles = [...text.matchAll(/<style>([^<&]*)<\/style>/g)].length;
  const plain = text.replace(/(<style>)[^<&]*(<\/style>)/g, "$1$2");
  const faults = (plain.match(/<style/g) ?? []).length === styles ? [] : ["a style sheet has markup"];
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(plain)) faults.push("an ampersand is not escaped");
  const code = `const picture = ${plain.trim()};`;
  const { diagnostics = [] } = ts.transpileModule(code, {
    fileName: "picture.tsx",
    reportDiagnostics: true,
    compilerOptions: { jsx: ts.JsxEmit.Preserve },
  });
  faults.push(...diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")));
  const visit = (node: ts.Node): void => {
    if (ts.isJsxAttribute(node) && (node.initializer === undefined || !ts.isStringLiteral(node.initializer))) {
      faults.push(`${node.getText(tree)} is not a quoted attribute`);
    }
    ts.forEachChild(node, visit);
  };
  const tree = ts.createSourceFile("picture.tsx", code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  visit(tree);
  return faults;
}
