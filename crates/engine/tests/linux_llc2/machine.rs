//! A user-mode Linux whose Ethernet is a socket of ours, and one end of LLC links of ours on it.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant as HostInstant};

use lanlab_stack::llc::{Event, Link};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{self, Frame, Framing, Header, Mac};

pub const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
pub const LINUX: Mac = Mac([2, 0, 0, 0, 0, 2]);
/// Both ends of every link.
pub const SAP: u8 = 0x40;

/// Whether a PDU is lost: whether it is from us, and the PDU.
pub type Drops = Box<dyn FnMut(bool, &[u8]) -> bool>;

pub struct Machine {
    child: Child,
    socket: UnixDatagram,
    output: PathBuf,
    start: HostInstant,
    pub link: Link,
    pub received: Vec<u8>,
    pub events: Vec<Event>,
    pub to_send: VecDeque<Vec<u8>>,
    /// Control fields in the order of the wire: `true` from us.
    pub trace: Vec<(bool, Vec<u8>)>,
    /// What does not pass: whether it is from us, and the PDU.
    pub drops: Drops,
    _folder: tempfile::TempDir,
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The kernel, and the folder of its LLC modules.
fn kernel() -> Option<(PathBuf, PathBuf)> {
    let kernel =
        std::env::var_os("LANLAB_UML").map(PathBuf::from).or_else(|| on_path("linux.uml"))?;
    let modules = kernel.parent()?.parent()?.join("lib/uml/modules");
    let versions = std::fs::read_dir(modules).ok()?;
    let folders = versions.flatten().map(|version| version.path().join("kernel/net/llc"));
    let found = folders.into_iter().find(|folder| folder.join("llc2.ko").is_file())?;
    Some((kernel, found))
}

impl Machine {
    /// Boot it. `None` where user-mode Linux or a C compiler is not installed.
    pub fn boot() -> Option<Self> {
        let (kernel, modules) = kernel()?;
        let folder = tempfile::tempdir().unwrap();
        let guest = folder.path().join("guest");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linux_llc2/guest.c");
        let built =
            Command::new("cc").args(["-O1", "-static", "-o"]).arg(&guest).arg(source).status();
        if !built.ok()?.success() {
            return None;
        }
        let (socket, other) = UnixDatagram::pair().unwrap();
        let output = folder.path().join("console");
        let console = std::fs::File::create(&output).unwrap();
        let child = Command::new(kernel)
            .args(["mem=64M", "rootfstype=hostfs", "root=/dev/root", "rw", "quiet"])
            .args(["con=null", "con0=null,fd:1", "con1=null"])
            .arg("vec0:transport=fd,fd=0,depth=64")
            .arg(format!("init={}", guest.display()))
            .arg(format!("LLC_MODULES={}", modules.display()))
            .env("HOME", folder.path())
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(console)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut machine = Self {
            child,
            socket,
            output,
            start: HostInstant::now(),
            link: Link::new(&profile::WINDOWS_NT.link, SAP),
            received: vec![],
            events: vec![],
            to_send: VecDeque::new(),
            trace: vec![],
            drops: Box::new(|_, _| false),
            _folder: folder,
        };
        let is_ready = machine.run(300, |machine| machine.console().contains("guest: ready"));
        assert!(is_ready, "no guest: {}", machine.console());
        Some(machine)
    }

    pub fn last(&self) -> String {
        let short = |pdu: &[u8]| pdu[..pdu.len().min(6)].to_vec();
        let from = self.trace.len().saturating_sub(30);
        let pdus: Vec<_> =
            self.trace[from..].iter().map(|(ours, pdu)| (*ours, short(pdu))).collect();
        format!("{pdus:?} {:?} {}", self.link.counts(), self.console())
    }

    pub fn console(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.output).unwrap()).into_owned()
    }

    /// Wait until the guest has said something after what it had said at `from`.
    pub fn says(&mut self, from: usize, text: &str) {
        let text = text.to_owned();
        let is_said = self.run(30, move |machine| machine.console()[from..].contains(&text));
        assert!(is_said, "{}", self.console());
    }

    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// A new link of ours; what went over the one before is forgotten.
    pub fn renew(&mut self) {
        self.link = Link::new(&profile::WINDOWS_NT.link, SAP);
        self.received.clear();
        self.events.clear();
        self.to_send.clear();
        self.trace.clear();
        self.drops = Box::new(|_, _| false);
    }

    /// A new link to the SAP that Linux calls from.
    pub fn renew_to(&mut self, sap: u8) {
        self.link = Link::between(&profile::WINDOWS_NT.link, SAP, sap);
    }

    /// A new link that is open. Linux answers with DM until its program has closed the one before.
    pub fn connect(&mut self) {
        self.renew();
        self.run(10, |machine| {
            let console = machine.console();
            let count = |text| console.matches(text).count();
            count("guest: accepted") == count("guest: end")
        });
        self.run(1, |_| false);
        self.renew();
        let now = self.now();
        self.link.connect(now);
        assert!(self.run(10, |machine| machine.events == [Event::Opened]), "{:?}", self.trace);
    }

    pub fn disconnect(&mut self) {
        self.drops = Box::new(|_, _| false);
        let now = self.now();
        self.link.disconnect(now);
        let is_over =
            self.run(20, |machine| matches!(machine.events.last(), Some(Event::Ended(_))));
        assert!(is_over, "{:?}", self.trace);
    }

    pub fn send(&mut self, information: &[u8]) {
        self.to_send.push_back(information.to_vec());
    }

    pub fn inject(&mut self, pdu: &[u8]) {
        self.trace.push((true, pdu.to_vec()));
        let header = Header { destination: LINUX, source: OWN, framing: Framing::Llc };
        let mut frame = vec![];
        Frame { header, payload: pdu }.emit(&mut frame).unwrap();
        self.socket.send(&frame).unwrap();
    }

    /// Drive the link until something holds; false after this many seconds.
    pub fn run(&mut self, seconds: u64, holds: impl Fn(&Self) -> bool) -> bool {
        let end = HostInstant::now() + Duration::from_secs(seconds);
        let mut octets = vec![0; 2000];
        loop {
            self.drain();
            if holds(self) {
                return true;
            }
            if HostInstant::now() >= end {
                return false;
            }
            let now = self.now();
            let due = self.link.poll_timeout().map_or(5_000_000, |at| at.nanos_since(now));
            let wait = Duration::from_nanos(due.clamp(100_000, 5_000_000));
            self.socket.set_read_timeout(Some(wait)).unwrap();
            if let Ok(len) = self.socket.recv(&mut octets) {
                self.take(&octets[..len]);
            }
            let now = self.now();
            if self.link.poll_timeout().is_some_and(|at| at <= now) {
                self.link.handle_timeout(now);
            }
        }
    }

    fn take(&mut self, octets: &[u8]) {
        let Ok(frame) = Frame::parse(octets) else { return };
        if frame.header.framing != Framing::Llc || frame.header.destination != OWN {
            return;
        }
        self.trace.push((false, frame.payload.to_vec()));
        if !(self.drops)(false, frame.payload) {
            let now = self.now();
            // SABME where there is no link: agree.
            if self.link.state() == lanlab_stack::llc::State::Disconnected
                && frame.payload[2] == 0x7f
            {
                self.link = Link::between(&profile::WINDOWS_NT.link, SAP, frame.payload[1] & 0xfe);
                self.link.accept(now, true);
            } else if let Some(information) = self.link.handle_frame(now, frame.payload) {
                self.received.extend_from_slice(information);
            }
        }
    }

    pub fn drain(&mut self) {
        while let Some(event) = self.link.poll_event() {
            self.events.push(event);
        }
        let mut frame = vec![];
        loop {
            while self.link.has_room()
                && let Some(information) = self.to_send.pop_front()
            {
                self.link.send().extend_from_slice(&information);
            }
            frame.clear();
            let header = Header { destination: LINUX, source: OWN, framing: Framing::Llc };
            header.emit(0, &mut frame).unwrap();
            let now = self.now();
            if !self.link.poll_transmit(now, &mut frame) {
                break;
            }
            let pdu = frame[ethernet::HEADER_LEN..].to_vec();
            ethernet::close(0, &mut frame);
            let is_dropped = (self.drops)(true, &pdu);
            self.trace.push((true, pdu));
            if !is_dropped {
                let sent = self.socket.send(&frame);
                assert!(sent.is_ok(), "the kernel has ended: {sent:?} {}", self.last());
            }
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The kernel has processes of its own: all of its group are ended.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}
