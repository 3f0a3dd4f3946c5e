#!/usr/bin/env bash
# iperf3, iperf 2: which loss do they report on a path that loses some datagrams and doubles others?
#
# Expected: that of the datagrams that never arrived, here 10 %.
# Found: 0 %. Each number that arrives a second time is taken for a late one and subtracted from the
# loss, so a datagram doubled hides a datagram lost. Neither speaks of duplicates: iperf3 prints
# nothing of them, iperf 2 calls them out of order, though all datagrams arrived in order.
# Exits 1 if that has changed. Needs apt-get, python3.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1 \
    iperf=2.1.8+dfsg-1 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu PATH=$here/usr/bin:$PATH
cat >relay.py <<'PYTHON'
"""Passes TCP; of each ten datagrams of data it passes none of the fifth, and the sixth twice."""

import socket
import sys
import threading

here, there = (("127.0.0.1", int(port)) for port in sys.argv[1:])
front, back = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
front.bind(here)
front.settimeout(1)
back.connect(there)
sender = None


def pump(source, sink):
    while octets := source.recv(65536):
        sink.sendall(octets)
    sink.shutdown(socket.SHUT_WR)


def pass_tcp():
    with socket.create_server(here) as listener:
        while True:
            client, server = listener.accept()[0], socket.create_connection(there)
            threading.Thread(target=pump, args=(client, server), daemon=True).start()
            threading.Thread(target=pump, args=(server, client), daemon=True).start()


def pass_answers():
    while True:
        front.sendto(back.recv(65536), sender)


threading.Thread(target=pass_tcp, daemon=True).start()
threading.Thread(target=pass_answers, daemon=True).start()
datagrams = 0
copies = {4: 0, 5: 2}
while True:
    try:
        octets, sender = front.recvfrom(65536)
    except TimeoutError:
        if datagrams:
            print(f"path: {datagrams} datagrams, {(datagrams + 5) // 10} lost, ", end="")
            print(f"{(datagrams + 4) // 10} doubled", flush=True)
        datagrams = 0
        continue
    if len(octets) < 100:  # the greeting of iperf3
        back.send(octets)
        continue
    for _ in range(copies.get(datagrams % 10, 1)):
        back.send(octets)
    datagrams += 1
PYTHON
read -r front3 back3 front2 back2 < <(python3 -c '
import socket
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
print(*(listener.getsockname()[1] for listener in listeners))')
iperf3 --server --one-off --port "$back3" >/dev/null &
iperf --server --udp --port "$back2" >/dev/null 2>&1 &
python3 relay.py "$front3" "$back3" &
python3 relay.py "$front2" "$back2" &
sleep 1
iperf3 --version | sed -n 1p
iperf3 --client 127.0.0.1 --port "$front3" --udp --bitrate 2M --length 500 --time 2 >found3
sed -n '/Jitter/,/receiver/p' found3
sleep 2
iperf --version 2>&1 || true
iperf --client 127.0.0.1 --port "$front2" --udp --bandwidth 2M --len 500 --time 2 >found2
sed -n '/Report/,$p' found2
sleep 2
grep -qE ' 0/[0-9]+ \(0%\) +receiver' found3
grep -qE ' 0/[0-9]+ \(0%\)' found2
