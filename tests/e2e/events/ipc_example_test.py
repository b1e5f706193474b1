"""Runs the two IPC examples against each other, as their header says: zevent producer consumer."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

zevent, way, producer, consumer = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    socket = str(pathlib.Path(folder) / "socket")
    run = [zevent, "run", "--way", way, "--"]
    with subprocess.Popen(run + [producer, socket], stdout=subprocess.PIPE, text=True) as making:
        waiting = subprocess.run(run + [consumer, socket], stdout=subprocess.PIPE, text=True, check=False)
        if waiting.returncode != 0:
            making.kill()
        said = making.communicate()[0]
print(said, waiting.stdout, sep="")
for status in (making.returncode, waiting.returncode):
    if status < 0 and status != -signal.SIGKILL:  # a crash of an example is a crash of this test
        os.kill(os.getpid(), -status)
assert making.returncode == 0, f"ipc_producer exited with {making.returncode}"
assert waiting.returncode == 0, f"ipc_consumer exited with {waiting.returncode}"
assert "is done" in waiting.stdout
