#!/usr/bin/env bash
# Gradescope runs this script once, as root, when it builds the autograder's image. All files are in /autograder/source.
# If FAIRCLOCK_PYTHON names a Python with all packages, nothing is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(dirname "$PWD")

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3; do
        if command -v "$name" >/dev/null && new_enough "$name"; then command -v "$name"; return; fi
    done
    return 1
}

apt() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

python=${FAIRCLOCK_PYTHON:-}
if [ -z "$python" ]; then
    apt-get update
    found=$(find_python) || { apt python3.11 && found=$(find_python); } || {
        echo "Python 3.11 or newer is missing: choose Ubuntu 22.04 or newer as the base image." >&2
        exit 2
    }
    version=$("$found" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    "$found" -c 'import ensurepip' 2>/dev/null || apt "$version-venv"
    apt bubblewrap || echo "The system package bubblewrap cannot be installed. The package from pip is tried." >&2
    apt util-linux gcc libc6-dev  # gcc compiles functions in C
    "$found" -m venv "$root/venv"
    chmod o+x "$root"  # each process tree has its own user, which must be able to enter this folder
    python=$root/venv/bin/python
    "$python" -m pip install --no-cache-dir -e ./fairclock  # installs no second copy, so the sandbox hides the only kit
fi
new_enough "$python" || { echo "$python is not Python 3.11 or newer." >&2; exit 2; }
echo "$python" > python-path
cd fairclock
PYTHONPATH=$PWD "$python" -m grader.gradescope.autograder --check "$root"
