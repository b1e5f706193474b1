"""What a command of zevent says, and how it ends."""

import subprocess
import sys


def expect(zevent, words, status, texts, folder, environment):
    """Runs it in the folder, and ends the test where it ends otherwise or does not say the texts."""
    done = subprocess.run(
        [zevent, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != status or any(each not in done.stdout for each in texts):
        print("$ zevent " + " ".join(words), done.stdout, sep="\n")
        sys.exit(f"status {done.returncode}; expected was {status} and {texts}")
    return done.stdout
