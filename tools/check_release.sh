#!/usr/bin/env bash
# Build the wheel and the source archive, check them, and try them in fresh environments: the wheel
# with the lowest versions that pyproject.toml allows and with the newest that pip finds, the source
# archive with the newest.
#
#     tools/check_release.sh                      # every python3.11 to 3.13 on the path
#     tools/check_release.sh PYTHON [PYTHON ...]  # these
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
bin=${VENV:-.venv}/bin
extras='[plot,tables,sessions,serve,image,notebook,llm]'
# As pyproject.toml has them: what everything else stands on (tests/tools/test_release.py compares).
lowest=("numpy==2.0.*" "scipy==1.13.*" "scikit-learn==1.6.*" "numba==0.61.*")

pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
    for name in python3.11 python3.12 python3.13; do
        if "$name" -c "" 2>/dev/null; then pythons+=("$name"); fi
    done
fi

echo "== build"
rm -rf dist
"$bin/python" -m build --no-isolation --outdir dist . >/dev/null
"$bin/python" -m twine check --strict dist/*
wheel=$(ls "$root"/dist/askmeans-*.whl)
source=$(ls "$root"/dist/askmeans-*.tar.gz)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

try() { # a name, an interpreter, an archive, more requirements
    local name=$1 python=$2 archive=$3
    shift 3
    echo "== $name: $("$python" --version)"
    "$python" -m venv --clear "$scratch/env"
    "$scratch/env/bin/python" -m pip install -q --disable-pip-version-check "$archive$extras" "$@"
    "$scratch/env/bin/python" -m pip check
    (cd "$scratch" && env -u PYTHONPATH "$scratch/env/bin/python" "$root/tools/smoke_test.py")
}

for python in "${pythons[@]}"; do
    # numpy 2.0 and scipy 1.13 have no wheels for Python 3.13.
    if [ "$("$python" -c 'import sys; print(sys.version_info < (3, 13))')" = True ]; then
        try lowest "$python" "$wheel" "${lowest[@]}"
    fi
    try newest "$python" "$wheel"
done
try "source archive" "${pythons[0]}" "$source"
echo "The release can go out: dist/"
