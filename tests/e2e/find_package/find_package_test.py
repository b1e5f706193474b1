"""Installs zevent into a temporary prefix, builds a project outside of it against the installed
package, with the newest and the oldest Level Zero headers at hand, and runs it on the driver."""
import argparse
import pathlib
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--cmake", required=True)
parser.add_argument("--build", required=True, help="the build folder to install from")
parser.add_argument("--headers", action="append", required=True)
parser.add_argument("--loader", default="", help="a stock libze_loader.so.1")
parser.add_argument("--flags", default="", help="compiler and linker flags of the build")
options = parser.parse_args()
outside = pathlib.Path(__file__).parent / "outside"


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True)


with tempfile.TemporaryDirectory() as folder:
    prefix = pathlib.Path(folder) / "prefix"
    run(options.cmake, "--install", options.build, "--prefix", prefix)
    for number, headers in enumerate(options.headers):
        build = pathlib.Path(folder) / f"outside{number}"
        run(options.cmake, "-S", outside, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DLEVEL_ZERO_INCLUDE_DIR={headers}", f"-DSTOCK_LOADER={options.loader}",
            f"-DCMAKE_CXX_FLAGS={options.flags}")
        run(options.cmake, "--build", build)
        run(build / "with_driver")
        if options.loader:
            run(prefix / "bin" / "zevent", "run", "--way", "loader", "--", build / "with_loader")
