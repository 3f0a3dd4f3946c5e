"""
The shell script that holds a connection. It reports the facts of the host, reads which engine the
host needs, finds or receives that engine, and waits for the end. Then it removes what must not
stay.

It is sent as one line, for any POSIX shell, so it has no line ends and no comments. Instead:

- `$0` is the mark. It is printed first, on a line of its own.
- It prints `facts SYSTEM ARCHITECTURE KERNEL CONNECTION`, then reads `HASH OCTETS KEEP SILENCE_S`.
- It answers `there PATH` (the file is there, right, and starts), or `send PATH`, reads that number
  of octets and prints `sent`, or `none REASONS`.
- Directories are tried in turn: the user's cache first, then such as are gone with the session or
  the boot, of which nothing is kept. Each must be the user's own, and let programs start
  (`noexec`): a file of one line is tried, which a shell runs itself where the kernel allows it.
- The engine does the waiting: it ends when the connection closes, and also after `SILENCE_S`
  without input, as after a cable was pulled. The shell could not notice that.
"""

from __future__ import annotations

_LINES = """
umask 077;
echo "$0";
echo "facts $(uname -s) $(uname -m) $(uname -r) ${SSH_CONNECTION:-}";
read -r hash octets keep silence_s || exit 0;
sum() {
  if command -v sha256sum; then sha256sum <"$1";
  elif command -v shasum; then shasum -a 256 <"$1";
  elif command -v openssl; then openssl dgst -sha256 -r <"$1"; fi 2>/dev/null | tail -n 1; };
is_right() { [ -f "$1" ] && case "$(sum "$1")" in "$hash"*) true;; *) false;; esac; };
part=; made=; dir=; why=; cache="${XDG_CACHE_HOME:-$HOME/.cache}/lanlab";
pass_over() { why="$why; $dir: $1"; [ -z "$part" ] || rm -f "$part"; part=; made=;
  rmdir "$dir" 2>/dev/null; };
leave() { [ -z "$part" ] || rm -f "$part";
  if [ -n "$made" ] && { [ "$keep" != yes ] || [ "$dir" != "$cache" ]; }; then
    rm -f "$made"; rmdir "$dir" 2>/dev/null; fi; };
trap leave EXIT; trap "exit 1" HUP INT TERM;
if [ -z "$(sum /dev/null)" ]; then echo "none ; needs sha256sum, shasum or openssl"; exit 0; fi;
own="lanlab-engine-$(id -u)";
for dir in "$cache" "${XDG_RUNTIME_DIR:-/tmp}/$own" "/tmp/$own" "/var/tmp/$own" "/dev/shm/$own"; do
  case "$dir" in [!/]*|*[!A-Za-z0-9_./+:@-]*) pass_over "unusual characters"; continue;; esac;
  mkdir -p "$dir" 2>/dev/null || { pass_over "cannot be made"; continue; };
  { [ -O "$dir" ] && [ ! -L "$dir" ]; } || { pass_over "is not of this user"; continue; };
  chmod 700 "$dir" 2>/dev/null;
  part="$dir/.part-$$"; made="$dir/engine-$hash";
  { echo "exit 0" >"$part"; } 2>/dev/null || { pass_over "cannot be written to"; continue; };
  chmod 700 "$part"; "$part" 2>/dev/null || { pass_over "mounted noexec"; continue; };
  if is_right "$made" && [ -x "$made" ]; then
    rm -f "$part"; part=;
    "$made" --version >/dev/null 2>&1 || { echo "none ; $made does not start"; exit 0; };
    echo "there $made"; break; fi;
  room=$(df -Pk "$dir" 2>/dev/null | { read -r line; read -r a b c free e; echo "${free:-0}"; });
  need=$((octets / 1024 + 1024));
  [ "${room:-0}" -ge "$need" ] || { pass_over "${room:-0} KiB free, $need needed"; continue; };
  echo "send $made";
  head -c "$octets" >"$part" 2>/dev/null || { echo "none ; $dir: cannot be written to"; exit 0; };
  is_right "$part" || { echo "none ; $dir: what arrived is not what was sent"; exit 0; };
  chmod 700 "$part";
  said=$("$part" --version 2>&1) || { echo "none ; it does not start: $said" | head -n 1; exit 0; };
  mv -f "$part" "$made" || { echo "none ; $dir: cannot be renamed"; exit 0; };
  part=; echo sent; break;
done;
if [ -z "$made" ]; then echo "none $why"; exit 0; fi;
"$made" hold --end-after-silence "$silence_s"
"""

#: As the shell reads it.
LINE = " ".join(_LINES.split("\n")).strip() + "\n"
