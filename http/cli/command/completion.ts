import complete from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import type { Terminal } from "./terminal.js";

/** Adds the command `complete`, which prints a shell's completion script and answers the requests of that script. */
export function addCompletion(program: Command, terminal: Pick<Terminal, "print">): void {
  const completion = complete(program);
  const setup = completion.setup.bind(completion);
  completion.setup = (name, executable, shell) => {
    const script = capture(() => setup(name, executable, shell));
    terminal.print(shell === "bash" ? withoutEval(withOwnVariables(script, name), executable) : script);
  };
}

/**
 * Renames the variables in the library's bash script after the program, and makes them writable. Otherwise bash prints
 * errors when the script is loaded again, or after the library's script for another program.
 */
function withOwnVariables(script: string, name: string): string {
  return script.replaceAll("ShellCompDirective", `__${name}_directive`).replace(/^readonly /gm, "");
}

/**
 * Matches the lines in the library's bash script that build a command from the typed words and evaluate that command.
 */
const EVALUATION = /^( *)requestComp="[\s\S]*?^ *out=\$\(eval "\$requestComp" 2>\/dev\/null\)$/m;

/**
 * Makes the script pass the typed words to the program as arguments. The library's script evaluates the words instead:
 * Tab would run the substitutions (`$(...)`) and the redirections (`> file`) of an unfinished line.
 */
function withoutEval(script: string, executable: string): string {
  if (!EVALUATION.test(script)) throw new Error("the completion script for bash has another form than expected");
  // Pass the words up to the cursor. After a space, the last of them is empty.
  const call = `out=$(${executable} complete -- "\${words[@]:1:cword}" 2>/dev/null)`;
  return script.replace(EVALUATION, (_lines, indent: string) => `${indent}${call}`);
}

/** Runs a function and returns what it prints with `console.log`. The library prints its scripts this way. */
function capture(print: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => void lines.push(line);
  try {
    print();
  } finally {
    console.log = log;
  }
  return lines.join("\n");
}
