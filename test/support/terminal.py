"""Runs a program on a pseudo-terminal and types at it: argv[1] is a JSON object
{"argv": [...], "cwd": ..., "env": {...}, "steps": [{"wait": text, "type": text} | {"type": text} | {"eof": true}]}.
Prints everything that appeared on the terminal, then a last line with the exit code."""

import json
import os
import pty
import select
import sys
import time

plan = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(plan["cwd"])
    os.execve(plan["argv"][0], plan["argv"], plan["env"])

PROMPT = b"\x1b[0J> "
seen = b""
mark = 0


def read(seconds):
    global seen
    end = time.time() + seconds
    while time.time() < end:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.time()))
        if not ready:
            return
        try:
            data = os.read(terminal, 65536)
        except OSError:
            return
        if not data:
            return
        seen += data
        return


for step in plan["steps"]:
    if "wait" in step:
        wanted = step["wait"].encode()
        end = time.time() + 20
        while wanted not in seen[mark:] and time.time() < end:
            read(0.2)
        mark = seen.find(wanted, mark) + len(wanted)
        # A question listens only after a moment, and shows its prompt then. What else is waited for has no such sign.
        end = time.time() + 0.6
        while PROMPT not in seen[mark:] and time.time() < end:
            read(end - time.time())
    os.write(terminal, b"\x04" if step.get("eof") else step.get("type", "").encode())

end = time.time() + 20
code = None
while time.time() < end:
    read(0.1)
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        code = os.waitstatus_to_exitcode(status)
        break
read(0.2)
if code is None:
    os.kill(pid, 9)
sys.stdout.buffer.write(seen + b"\n" + str(code).encode())
