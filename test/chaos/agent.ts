/**
 * The kinds of tasks. `work` is three times as likely as any other kind. A task's title starts with its kind. The agent
 * and the test's simulated people read the kind there, and act by it.
 */
export const taskKinds = ["work", "work", "work", "ask", "leave", "hand", "long", "code", "veto"] as const;

/** The amount that the agent spends per run, in euros. The agent reports this amount in two parts. */
export const SPENT = 0.02;
/** Number of steps that the agent reports, numbered from 1. */
export const STEPS = 5;

/**
 * Returns the agent's shell script. The script writes its process id, run and task to a file. It reports numbered steps
 * and spends money. Then it reads the kind of task in the task's title, and does what that kind requires, for example
 * asks a question.
 */
export function agentScript(startsFile: string, toolCaller = "exit 8"): string {
  return `
echo "$$ $SIGNALBOX_RUN $SIGNALBOX_TASK" >> ${startsFile}
context=$(tr -d '\\n' < "$SIGNALBOX_CONTEXT_FILE")
say() { printf '%s\\n' "$1"; }
spend() { say '{"type":"cost","amount":0.01,"currency":"EUR"}'; }
spend
for n in 1 2 3 4 5; do
  say '{"type":"step","kind":"message","text":"step '$n'"}'
  sleep 0.03
done
case "$context" in
  *'"ask-'*)
    case "$context" in
      *'answer to run_'*) ;;
      *) spend; say '{"type":"ask","question":"Which number?"}'; exit 0;;
    esac;;
  *'"leave-'*)
    say '{"type":"permission","id":"1","tool":"shell","inputs":{"command":"ls"},"reason":"To look."}'
    read -r line || exit 7;;
  *'"hand-'*)
    if [ "$SIGNALBOX_STATION" = work ]; then
      say '{"type":"handover","to":"review","note":"over to you"}'
      read -r line || exit 7
    fi;;
  *'"long-'*) sleep 1;;
  *'"tools-'*) ${toolCaller} || exit 8;;
  *'"code-'*) echo "$SIGNALBOX_RUN" >> "done-$SIGNALBOX_TASK.txt";;
esac
spend
exit 0
`;
}
