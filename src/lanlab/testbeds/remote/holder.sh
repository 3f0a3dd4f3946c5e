# The shell script that holds a connection. It reports the facts of the host, reads which engine the
# host needs, finds or receives that engine, and waits for the end. Then it removes temporary files.
#
# It is sent as one line for any POSIX shell, so it has no line ends, no comments, and no blank at its
# beginning. Its behaviour:
#
# - `$0` is the mark. It is printed first, on a separate line.
# - It prints `facts SYSTEM ARCHITECTURE KERNEL CONNECTION`, then reads `HASH OCTETS KEEP SILENCE_S`.
# - It answers `there PATH` (the file exists, is correct, and starts), or `send PATH`, reads that
#   number of bytes and prints `sent`, or `none REASONS`.
# - Directories are tried in turn: the user's cache first, then directories that vanish with the
#   session or at reboot, where nothing is kept. Each must let programs start (`noexec`): a one-line
#   file is tried, which a shell runs itself if the kernel allows it.
# - Each must be the user's own, and no other user may write to it or replace it: it and each
#   directory above it is checked by the owner and mode that `ls -n` shows (`test -O` is not in
#   POSIX). Files are first written to a new directory there (`mkdir` follows no link and fails if it
#   exists). A file found there is started only if it is the user's, and no other may write to it.
#   Only directories that were made here, or are the user's, are removed.
# - The engine waits: it ends when the connection closes, and also after `SILENCE_S` without input, as
#   after a cable was pulled. The shell could not notice that.

umask 077;
echo "$0";
echo "facts $(uname -s) $(uname -m) $(uname -r) ${SSH_CONNECTION:-}";
read -r hash octets keep silence_s || exit 0;
sum() {
  if command -v sha256sum; then sha256sum <"$1";
  elif command -v shasum; then shasum -a 256 <"$1";
  elif command -v openssl; then openssl dgst -sha256 -r <"$1"; fi 2>/dev/null | tail -n 1; };
is_right() { [ -f "$1" ] && case "$(sum "$1")" in "$hash"*) true;; *) false;; esac; };
uid=$(id -u); top=$(ls -ldn / | { read -r mode links owner rest; echo "$owner"; });
is_plain() { case "$1" in [!/]*|*[!A-Za-z0-9_./+:@-]*) false;; esac; };
is_mine() {
  set -- $(ls -ldn "$1" 2>/dev/null);
  case "${1-}" in [d-]????-??-*) [ "${3-}" = "$uid" ];; *) false;; esac; };
is_held() {
  is_mine "$1" || return 1;
  at=${1%/*};
  while :; do
    set -- $(ls -ldn "${at:-/}" 2>/dev/null);
    case "${1-}" in d????-??-*|d????????[tT]*) ;; *) return 1;; esac;
    case "${3-}" in 0|"$uid"|"$top") ;; *) return 1;; esac;
    [ -n "$at" ] || return 0;
    at=${at%/*};
  done; };
work=; made=; dir=; new=; why=; cache="${XDG_CACHE_HOME:-$HOME/.cache}/lanlab";
drop_work() { [ -z "$work" ] || { rm -f "$work/engine"; rmdir "$work" 2>/dev/null; }; work=; };
pass_over() { why="$why; $dir: $1"; drop_work; made=;
  [ -z "$new" ] || rmdir "$dir" 2>/dev/null; };
leave() { drop_work;
  if [ -n "$made" ] && { [ "$keep" != yes ] || [ "$place" != "$cache" ]; }; then
    rm -f "$made"; rmdir "$dir" 2>/dev/null; fi; };
trap leave EXIT; trap "exit 1" HUP INT TERM;
if [ -z "$(sum /dev/null)" ]; then echo "none ; needs sha256sum, shasum or openssl"; exit 0; fi;
own="lanlab-engine-$uid";
for place in "$cache" "${XDG_RUNTIME_DIR:-/tmp}/$own" "/tmp/$own" "/var/tmp/$own" "/dev/shm/$own";
do
  dir=$place; new=;
  is_plain "$dir" || { pass_over "unusual characters"; continue; };
  mkdir -p "${dir%/*}/" 2>/dev/null;
  if mkdir "$dir" 2>/dev/null; then new=yes;
  elif [ ! -d "$dir" ]; then pass_over "cannot be made"; continue; fi;
  above=$(cd -P "${dir%/*}/" 2>/dev/null && pwd -P); dir="${above%/}/${dir##*/}";
  is_plain "$dir" || { pass_over "unusual characters"; continue; };
  is_held "$dir" || { pass_over "other users own it or can change it"; continue; };
  work="$dir/.part-$0"; made="$dir/engine-$hash";
  mkdir "$work" 2>/dev/null || { work=; pass_over "cannot be written to"; continue; };
  part="$work/engine";
  { echo "exit 0" >"$part"; } 2>/dev/null || { pass_over "cannot be written to"; continue; };
  chmod 700 "$part"; "$part" 2>/dev/null || { pass_over "mounted noexec"; continue; };
  if is_mine "$made" && is_right "$made" && [ -x "$made" ]; then
    drop_work;
    "$made" --version >/dev/null 2>&1 || { echo "none ; $made does not start"; exit 0; };
    echo "there $made"; break; fi;
  [ ! -h "$made" ] || rm -f "$made";
  [ ! -d "$made" ] || { pass_over "there is a directory of the name of the engine"; continue; };
  room=$(df -Pk "$dir" 2>/dev/null | { read -r line; read -r a b c free e; echo "${free:-0}"; });
  need=$((octets / 1024 + 1024));
  [ "${room:-0}" -ge "$need" ] || { pass_over "${room:-0} KiB free, $need needed"; continue; };
  echo "send $made";
  head -c "$octets" >"$part" 2>/dev/null || { echo "none ; $dir: cannot be written to"; exit 0; };
  is_right "$part" || { echo "none ; $dir: what arrived is not what was sent"; exit 0; };
  chmod 700 "$part";
  said=$("$part" --version 2>&1) || { echo "none ; it does not start: $said" | head -n 1; exit 0; };
  mv -f "$part" "$made" || { echo "none ; $dir: cannot be renamed"; exit 0; };
  drop_work; echo sent; break;
done;
if [ -z "$made" ]; then echo "none $why"; exit 0; fi;
"$made" hold --end-after-silence "$silence_s"
