#!/bin/sh
# The compiler, with the flags of the fuzzer for lanlab's crates alone: the others build in less time without.
compiler=$1
shift
case " $* " in
*" --crate-name lanlab_"* | *" --crate-name targets "*)
    # shellcheck disable=SC2086 # One flag is one word.
    exec "$compiler" "$@" $LANLAB_FUZZ_FLAGS
    ;;
esac
exec "$compiler" "$@"
