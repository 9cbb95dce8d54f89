import { join } from "node:path";
import ts from "typescript";

/**
 * Compiles small files that import the product, for example `../../runtime/turns/turn.js`. Returns one text for each
 * file name: all compiler messages about the file, or an empty text if the file compiles. The files are not on disk.
 * They compile as if they were in the tests' folder.
 */
export function compileSnippets(snippets: Readonly<Record<string, string>>): Record<string, string> {
  const root = process.cwd();
  const read = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(read.config, { ...ts.sys, readDirectory: () => [] }, root);
  const texts = new Map(
    Object.entries(snippets).map(([name, text]) => [join(root, "test/snippets", `${name}.ts`), text]),
  );
  const host = ts.createCompilerHost({ ...options, incremental: false });
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...more) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, language, ...more) : ts.createSourceFile(path, text, language);
  };
  const program = ts.createProgram([...texts.keys()], { ...options, incremental: false, noEmit: true }, host);
  const said = [...texts.keys()].map((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n");
  });
  return Object.fromEntries(Object.keys(snippets).map((name, index) => [name, said[index] ?? ""]));
}
