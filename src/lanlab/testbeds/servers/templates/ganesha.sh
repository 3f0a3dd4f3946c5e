# With a private `/run`, to avoid the socket of another host or of the system.
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/rpcbind /run/ganesha
"{rpcbind}" -f -w -i &
tries=0
until [ -S /run/rpcbind.sock ]; do
    tries=$((tries + 1))
    [ $tries -lt 500 ]
    sleep 0.01
done
exec "$@"
