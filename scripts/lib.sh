# Set-up shared by the scripts beside this file. Sourced, not run.
# What is done is remembered in .venv/.ready-<extras>, as a hash of what it was done from.

PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV="$PROJECT/.venv"
cd "$PROJECT" || exit 3

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$*"
    exit 3
}

python_for_venv() {
    local candidate
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

find_browser() {
    local candidate
    for candidate in "${DEEPCHART_CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" 2>/dev/null && return 0
    done
    # Playwright's own downloads
    compgen -G "${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}/chromium*/*/*" >/dev/null 2>&1
}

apt_install() {
    say "installing system packages: $* (apt-get)"
    if [ -z "${APT_UPDATED:-}" ]; then
        apt-get update -qq >&2 || return 1
        APT_UPDATED=1
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Everything that only the system can give, before any work starts: root installs it, others are told how.
need_system_packages() {
    local python missing=()
    if python=$(python_for_venv); then
        "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            missing+=("$("$python" -c 'import sys; print(f"python3.{sys.version_info.minor}-venv")')")
    else
        missing+=(python3 python3-venv)
    fi
    if ! find_browser >/dev/null && is_debian; then missing+=(chromium-headless-shell); fi
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt_install "${missing[@]}" && return 0
        die "could not install: ${missing[*]}. Install them, then run this again."
    fi
    die "missing system packages: ${missing[*]}
As root: apt-get install --no-install-recommends ${missing[*]}
(a browser that is already there can be named: DEEPCHART_CHROMIUM=/path/to/chrome)
Then run this again."
}

is_debian() { grep -qx 'ID=debian' /etc/os-release 2>/dev/null; }

# Where the system has no Chromium package (Ubuntu's is a snap), Playwright's own build is used.
need_browser() {
    find_browser >/dev/null && return 0
    say "downloading Chromium through Playwright"
    local deps=()
    [ "$(id -u)" -eq 0 ] && deps=(--with-deps)
    "$VENV/bin/playwright" install ${deps[@]+"${deps[@]}"} --only-shell chromium >&2 ||
        die "no Chromium: install one and name it in DEEPCHART_CHROMIUM, or as root: $VENV/bin/playwright install --with-deps --only-shell chromium"
}

# Chart libraries that HTML charts load: where npm is there they are installed, else `deepchart doctor` says how.
want_chart_libraries() {
    command -v npm >/dev/null 2>&1 || return 0
    say "installing chart libraries for HTML charts (npm, 250 MB)"
    "$VENV/bin/deepchart" libraries install >/dev/null ||
        say "HTML charts will lack their libraries; again later: $VENV/bin/deepchart libraries install"
}

# set_up EXTRAS: the virtual environment with the locked packages; EXTRAS is "[ocr]" or "[dev,ocr]".
set_up() {
    local extras=$1 stamp mark="$VENV/.ready-${1//[^a-z]/}"
    stamp=$(cat pyproject.toml requirements.lock deepchart_dagster/execution/libraries/npm/* | sha256sum | cut -d' ' -f1)
    if [ -f "$mark" ] && [ "$(cat "$mark")" = "$stamp" ]; then return 0; fi
    say "setting up, about four minutes the first time: packages, this project, where missing a browser, where npm is chart libraries"
    [ -x "$VENV/bin/python" ] || "$(python_for_venv)" -m venv "$VENV" || die "could not create $VENV"
    "$VENV/bin/python" -m uv --version >/dev/null 2>&1 || "$VENV/bin/python" -m pip install -q uv || die "could not install uv into $VENV"
    say "installing packages into .venv (about 1.5 GB, downloaded and compiled; most of the time)"
    "$VENV/bin/python" -m uv pip install -q --python "$VENV/bin/python" --compile-bytecode \
        --constraint requirements.lock --editable ".$extras" >&2 || die "could not install the packages"
    say "compiling the project and reading its dbt models"
    # Ours too: where PYTHONDONTWRITEBYTECODE is set, every start would compile it again.
    "$VENV/bin/python" -m compileall -q deepchart_dagster assets resources >&2 || die "could not compile the project"
    "$VENV/bin/python" -c 'import pathlib, deepchart_dagster.metrics.dbt as dbt
dbt.ensure_manifest(pathlib.Path("dbt_reports").resolve())' >&2 || die "dbt could not parse dbt_reports"
    need_browser
    want_chart_libraries
    printf %s "$stamp" >"$mark"
}
