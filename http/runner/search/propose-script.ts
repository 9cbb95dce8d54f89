/**
 * `propose`, a program for agents of any harness. It passes a file with an agent's message to the runner, waits for the
 * answer, and prints it. It exits with 0 if the service accepted the message.
 */
export const PROPOSE_SCRIPT = `#!/bin/sh
# propose FILE: proposes candidates, or records a cause; prints the answer. See the skill "search".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name="said-$$-$(date +%s).json"
cp -- "$1" "$here/proposals/.$name"
mv -- "$here/proposals/.$name" "$here/proposals/$name"
while [ ! -e "$here/answers/$name" ]; do sleep 0.2; done
cat -- "$here/answers/$name"
grep -q '^{"status":201,' "$here/answers/$name"
`;
