import complete from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import type { Terminal } from "./terminal.js";

/** Adds `complete`, which prints a shell's completion script and answers its questions. */
export function addCompletion(program: Command, terminal: Pick<Terminal, "print">): void {
  const completion = complete(program);
  const setup = completion.setup.bind(completion);
  completion.setup = (name, executable, shell) => {
    const script = capture(() => setup(name, executable, shell));
    terminal.print(shell === "bash" ? withOwnVariables(script, name) : script);
  };
}

/**
 * Gives the variables of the library's script for bash names of the program, and makes them writable. Otherwise bash
 * prints errors when the script is loaded again, or after a script that the library wrote for another program.
 */
function withOwnVariables(script: string, name: string): string {
  return script.replaceAll("ShellCompDirective", `__${name}_directive`).replace(/^readonly /gm, "");
}

/** Returns what a function prints with `console.log`, as the library does. */
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
