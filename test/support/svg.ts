import ts from "typescript";

/**
 * Returns the reasons why a text is not well-formed XML; empty if it is well-formed. Checks only the features that
 * pictures use. TypeScript parses the elements as JSX. JSX allows attributes without quotes or values, and does not
 * check entities, so this function checks both itself.
 */
export function listSvgFaults(text: string): readonly string[] {
  // JSX would read the braces of a style sheet as expressions, so the style sheets are removed before parsing.
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
