#!/usr/bin/env bash
# iperf3, D-ITG: which loss do they report if a path goes down in the middle of a test and stays down?
#
# Expected: 50 %, as in the opposite case, a path that comes up in the middle.
# Found: 0 %. Both find losses by gaps between the numbers that arrive, and nothing arrives after the last ones.
# iperf3 exchanges both counts and prints 100 sent, 50 received and 0 lost. D-ITG prints 50 packets and 0
# dropped. So a run whose path failed for good looks like one without loss.
# Exits 1 if that has changed. Needs apt-get, python3; takes 15 s.
set -euo pipefail
here=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$here"' EXIT
chmod 711 "$here" && cd "$here"
apt-get -qq download iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1 d-itg=2.8.1-r1023-6 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu PATH=$here/usr/bin:$PATH
iperf3 --version | sed -n 1p
echo "D-ITG 2.8.1"
python3 - <<'PYTHON'
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

DATAGRAMS = 100
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
HALVES = {"up for the first half": range(50), "up for the second half": range(50, 1000)}


class Path(threading.Thread):
    """Passes TCP, and those datagrams of data whose number is in `passed`."""

    def __init__(self, here, there, passed):
        super().__init__(daemon=True)
        self.there, self.passed = there, passed
        self.front, self.back = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
        self.front.bind(here)
        self.back.connect(there)
        self.listener = socket.create_server(here)
        self.sender = None
        for work in (self.pass_tcp, self.pass_answers):
            threading.Thread(target=work, daemon=True).start()
        self.start()

    def run(self):
        number = 0
        while True:
            octets, self.sender = self.front.recvfrom(65536)
            data = len(octets) > 100  # not the greeting of iperf3
            if not data or number in self.passed:
                self.back.send(octets)
            number += data

    def pass_answers(self):
        while True:
            self.front.sendto(self.back.recv(65536), self.sender)

    def pass_tcp(self):
        while True:
            client, server = self.listener.accept()[0], socket.create_connection(self.there)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    @staticmethod
    def pump(source, sink):
        while octets := source.recv(65536):
            sink.sendall(octets)
        sink.shutdown(socket.SHUT_WR)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def run(*command):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def iperf3(passed):
    port = free_port()
    server = subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", str(port)], **SILENT
    )
    Path(("127.0.0.2", port), ("127.0.0.1", port), passed)
    time.sleep(1)
    traffic = f"--udp --bitrate 400k --length 1000 --time {DATAGRAMS // 50} --json".split()
    end = json.loads(run("iperf3", "--client", "127.0.0.2", "--port", port, *traffic))["end"]
    server.wait()
    received = end["sum_received"]
    arrived = received["bytes"] // 1000
    return end["sum_sent"]["packets"], arrived, received["lost_packets"], received["lost_percent"]


def d_itg(passed):
    signalling, port = free_port(), free_port()
    receiver = subprocess.Popen(["ITGRecv", "-a", "127.0.0.1", "-Sp", str(signalling)], **SILENT)
    Path(("127.0.0.2", port), ("127.0.0.1", port), passed)
    time.sleep(1)
    log = pathlib.Path("log").resolve()
    flow = f"-a 127.0.0.2 -rp {port} -C 50 -c 1000 -z {DATAGRAMS}"
    run("ITGSend", *flow.split(), "-Sda", "127.0.0.1", "-Sdp", signalling, "-x", log)
    time.sleep(1)
    receiver.terminate()
    receiver.wait()
    total = run("ITGDec", log).rpartition("TOTAL RESULTS")[2]
    arrived = int(re.search(r"Total packets += +(\d+)", total)[1])
    dropped, percent = re.search(r"Packets dropped += +(\d+) \(([\d.]+) %\)", total).groups()
    return DATAGRAMS, arrived, int(dropped), float(percent)


found = {}
for name, measure in (("iperf3", iperf3), ("D-ITG", d_itg)):
    for when, passed in HALVES.items():
        sent, arrived, lost, percent = found[name, when] = measure(passed)
        print(f"{name:<7} {when:<23} {sent} sent, {arrived} arrived; reported lost: {lost} ({percent:.0f} %)")
first, second = HALVES
as_found = all(found[name, first][1:] == (50, 0, 0) for name in ("iperf3", "D-ITG"))
as_found &= all(45 <= found[name, second][3] <= 55 for name in ("iperf3", "D-ITG"))
sys.exit(not as_found)
PYTHON
