"""scripts/setup on systems that are made up: its commands are replaced by scripts that say what such a
system would, and that note what they were asked.

    setup_test.py CASE SOURCE_DIR LEVEL_ZERO_INCLUDE
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2])
HEADERS = pathlib.Path(sys.argv[3])

# $STATE/installed and $STATE/offered have a package a line, $STATE/suites a suite a line.
COMMANDS = {
    "dpkg-query": 'grep -qxF -e "${@: -1}" $STATE/installed && printf "ii "',
    "apt-cache": 'cat $STATE/offered',
    "dpkg": 'case $1 in --print-architecture) echo amd64 ;; -x) mkdir -p $3/usr && cp -R $2/. $3/usr/ ;; esac',
    "id": 'cat $STATE/user',
    "sudo": 'exit 1',
    "apt-get": '''
echo "$*" >> $STATE/asked
case " $* " in
  *" indextargets "*) echo "Packages|Debian|Debian|http://mirror.invalid/debian" ;;
  *" update "*|*" download "*)
    sources=$(printf '%s\\n' "$@" | sed -n 's/^Dir::Etc::SourceList=//p')
    [ -n "$sources" ] || exit 0
    suite=$(sed -n 's/^Suites: //p' "$sources")
    grep -qxF -e "$suite" $STATE/suites || { echo "E: no suite $suite" >&2; exit 1; }
    case " $* " in *" download "*) cp -R "$STATE/headers-$suite" ./libze-dev_1_amd64.deb ;; esac ;;
  *" install "*) printf '%s\\n' "$@" >> $STATE/installed ;;
esac''',
}

DEBIAN_12 = """build-essential cmake ninja-build ccache pkg-config clang-14 libclang-rt-14-dev python3 python3-clang-14
libclang1-14 libfmt-dev libcli11-dev libexpected-dev libzstd-dev libxxhash-dev nlohmann-json3-dev libsqlite3-dev
libgtest-dev librapidcheck-dev libbenchmark-dev libze1 spirv-tools spirv-headers pocl-opencl-icd libpocl2
opencl-headers ocl-icd-opencl-dev llvm-spirv-15 llvm-spirv-14 binutils""".split()
OF_DEBIAN_13 = {
    "clang-14": "clang-19", "libclang-rt-14-dev": "libclang-rt-19-dev", "python3-clang-14": "python3-clang-19",
    "libclang1-14": "libclang1-19", "libpocl2": "libpocl2t64", "llvm-spirv-15": "llvm-spirv-18",
}
DEBIAN_13 = [OF_DEBIAN_13.get(each, each) for each in DEBIAN_12 if each != "llvm-spirv-14"]


class System:
    """A system with these packages, in a folder of its own, with a copy of the scripts."""

    def __init__(self, folder, installed=(), offered=(), suites=(), user=0, has_headers=True):
        self.folder = pathlib.Path(folder)
        self.state = self.folder / "state"
        self.state.mkdir()
        (self.state / "installed").write_text("".join(each + "\n" for each in installed))
        (self.state / "offered").write_text("".join(each + "\n" for each in offered))
        (self.state / "suites").write_text("".join(each + "\n" for each in suites))
        (self.state / "user").write_text(f"{user}\n")
        (self.state / "asked").write_text("")
        commands = self.folder / "commands"
        commands.mkdir()
        for name, text in COMMANDS.items():
            (commands / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
            (commands / name).chmod(0o755)
        self.tree = self.folder / "a checkout"
        shutil.copytree(SOURCE / "scripts", self.tree / "scripts")
        (self.tree / "src").mkdir()
        shutil.copytree(SOURCE / "src/api", self.tree / "src/api")
        self.deps = self.tree / "build/deps"
        if has_headers:
            for name in ("level-zero", "level-zero-stable"):
                self.put_headers(self.deps / name)

    def put_headers(self, folder):
        (folder / "include").mkdir(parents=True)
        shutil.copytree(HEADERS / "level_zero", folder / "include/level_zero")

    def set_up(self, *arguments):
        environment = {**os.environ, "PATH": f"{self.folder}/commands:{os.environ['PATH']}", "STATE": str(self.state)}
        environment.pop("ZEVENT_DEPS_DIR", None)
        done = subprocess.run([self.tree / "scripts/setup", *arguments], env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")
        return done.returncode, done.stdout

    def installed(self):
        return (self.state / "installed").read_text().split()

    def asked(self):
        return (self.state / "asked").read_text()


def expect(condition, what, output):
    if not condition:
        sys.exit(f"expected {what}; scripts/setup said:\n{output}")


def expect_installs(system, wanted):
    status, output = system.set_up()
    expect(status == 0, "success", output)
    missing = set(wanted) - set(system.installed())
    expect(not missing, f"{sorted(missing)} to be installed", output)
    other = [each for each in system.installed() if each[0] != "-" and each not in {*wanted, "install"}]
    expect(not other, f"nothing else than is needed, not {other}", output)
    status, output = system.set_up()
    expect(status == 0 and "packages: all there" in output, "nothing to do at the second run", output)


def all_there(folder):
    system = System(folder, installed=DEBIAN_12)
    status, output = system.set_up()
    expect(status == 0 and "packages: all there" in output, "nothing to do", output)
    expect(system.asked() == "", f"no question to apt-get, which was asked {system.asked()}", output)


def debian_12(folder):
    expect_installs(System(folder, offered=[*DEBIAN_12, "clang-19", "llvm-spirv-18"]), DEBIAN_12)


def debian_13(folder):
    expect_installs(System(folder, offered=[*DEBIAN_13, "clang-18"]), DEBIAN_13)


def nothing_offered(folder):
    status, output = System(folder).set_up("--check")
    expect(status == 0 and "missing packages: build-essential" in output and " clang-14 " in output,
           "the names that Debian 12 has", output)


def no_root(folder):
    system = System(folder, installed=DEBIAN_13[:-2], offered=DEBIAN_13, user=1000)
    status, output = system.set_up()
    expect(status == 1, "exit status 1", output)
    expect("apt-get install -y --no-install-recommends llvm-spirv-18 binutils" in output, "the command to type", output)


def headers(folder):
    system = System(folder, installed=DEBIAN_12, suites=["testing", own_suite()], has_headers=False)
    for suite in ("testing", own_suite()):
        system.put_headers(system.state / f"headers-{suite}")
    status, output = system.set_up()
    expect(status == 0 and "older than the newest" not in output, "headers of testing", output)
    expect((system.deps / "level-zero/include/level_zero/ze_api.h").exists(), "the headers", output)
    expect("Check-Valid-Until=false" in system.asked(), "a snapshot of a mirror to do", output)


def newest_headers_missing(folder):
    system = System(folder, installed=DEBIAN_12, suites=["stable", own_suite()], has_headers=False)
    for suite in ("stable", own_suite()):
        system.put_headers(system.state / f"headers-{suite}")
    status, output = system.set_up()
    expect(status == 0, "success", output)
    expect("suite 'testing' does not offer headers that can be used" in output, "word of testing", output)
    expect("older than the newest" in output, "word of what is missing then", output)


def newest_headers_unreadable(folder):
    system = System(folder, installed=DEBIAN_12, suites=["testing", "stable", own_suite()], has_headers=False)
    for suite in ("testing", "stable", own_suite()):
        system.put_headers(system.state / f"headers-{suite}")
    header = system.state / "headers-testing/include/level_zero/ze_api.h"
    header.write_text(header.read_text() + "\nthis is no C;\n")
    status, output = system.set_up()
    expect(status == 0, "success", output)
    expect("headers cannot be read" in output and "ze_api.h:" in output, "what is wrong with them", output)
    expect("older than the newest" in output, "word of what is missing then", output)


def offline(folder):
    system = System(folder, installed=DEBIAN_12, has_headers=False)
    status, output = system.set_up()
    expect(status == 1 and "-DLEVEL_ZERO_INCLUDE_DIR=DIR" in output, "a way without a network", output)


def own_suite():
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    return "stable"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        globals()[sys.argv[1]](temporary)
