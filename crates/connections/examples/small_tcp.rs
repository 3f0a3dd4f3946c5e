//! Does what `nc` does, over the engine's own TCP: copies standard input to a connection, and received data
//! to standard output.
//!
//!     small_tcp INTERFACE ADDRESS connect HOST:PORT [PAUSE_MS [DOUBLED LATE]]
//!     small_tcp INTERFACE ADDRESS listen PORT [PAUSE_MS [DOUBLED LATE]]
//!
//! The end of standard input closes this direction of the connection; the other one continues until its end.
//! Reading begins after `PAUSE_MS`, so that the window closes. In both directions, DOUBLED per cent of the
//! frames are duplicated, and LATE per cent are overtaken by the next. The counters are written to standard
//! error at the end. Needs the right to send raw frames. `tests/workloads/test_small_tcp.py` compares it with
//! the kernel's TCP.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use lanlab_connections::small::{SmallNode, SmallPlan};
use lanlab_connections::wired::FrameLink;
use lanlab_os::{LinkDescriptor, RawFrames, RawLink, RawLinkPlace};
use lanlab_stack::ip::{TcpProfile, small};
use lanlab_units::Instant;
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncWriteExt, copy, split};
use tokio::time::{sleep, timeout};

/// Memory for two connections: the one in use, and one that is refused.
const CONNECTIONS: usize = 2;
const MEMORY_BYTES: u64 = 400_000;
/// Time for the last acknowledgements.
const CLOSING: Duration = Duration::from_mins(1);

/// A link that duplicates and reorders frames.
#[derive(Debug)]
struct Faulty {
    link: RawLink,
    doubled: u64,
    late: u64,
    numbers: u64,
    /// Received frames to return next, and one that the next frame overtakes.
    received: VecDeque<Vec<u8>>,
    late_received: Option<Vec<u8>>,
    late_sent: Option<Vec<u8>>,
}

impl Faulty {
    /// True with this probability (xorshift, Marsaglia 2003).
    fn is(&mut self, percent: u64) -> bool {
        self.numbers ^= self.numbers << 13;
        self.numbers ^= self.numbers >> 7;
        self.numbers ^= self.numbers << 17;
        self.numbers % 100 < percent
    }
}

impl FrameLink for Faulty {
    fn mac(&self) -> [u8; 6] {
        self.link.mac()
    }

    fn interface(&self) -> &str {
        self.link.interface()
    }

    fn now(&self) -> Instant {
        lanlab_os::monotonic()
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        while self.received.is_empty() {
            let Some(length) = self.link.receive(into)? else {
                // No frame follows that could overtake it.
                self.received.extend(self.late_received.take());
                if let Some(frame) = self.late_sent.take() {
                    self.link.send(&frame)?;
                }
                break;
            };
            let frame = into[..length.min(into.len())].to_vec();
            let copies = 1 + usize::from(self.is(self.doubled));
            if self.late_received.is_none() && self.is(self.late) {
                self.late_received = Some(frame);
                continue;
            }
            self.received.extend(std::iter::repeat_n(frame, copies));
            self.received.extend(self.late_received.take());
        }
        let Some(frame) = self.received.pop_front() else { return Ok(None) };
        into[..frame.len()].copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        if self.late_sent.is_none() && self.is(self.late) {
            self.late_sent = Some(frame.to_vec());
            return Ok(true);
        }
        let is_sent = self.link.send(frame)?;
        if is_sent {
            if self.is(self.doubled) {
                self.link.send(frame)?;
            }
            if let Some(late) = self.late_sent.take() {
                self.link.send(&late)?;
            }
        }
        Ok(is_sent)
    }

    fn new_drops(&mut self) -> u64 {
        self.link.new_drops()
    }
}

enum Way {
    Connect(SocketAddr),
    Listen(u16),
}

struct Asked {
    plan: SmallPlan,
    way: Way,
    pause: Duration,
    doubled: u64,
    late: u64,
}

fn parse(arguments: &[String]) -> Option<Asked> {
    let [interface, address, way, to, rest @ ..] = arguments else { return None };
    let way = match way.as_str() {
        "connect" => Way::Connect(to.parse().ok()?),
        "listen" => Way::Listen(to.parse().ok()?),
        _ => return None,
    };
    let peer = match &way {
        Way::Connect(SocketAddr::V4(to)) => Some(*to.ip()),
        Way::Connect(SocketAddr::V6(_)) => return None,
        Way::Listen(_) => None,
    };
    let number = |at: usize| rest.get(at).map_or(Some(0), |text| text.parse::<u64>().ok());
    let plan = SmallPlan {
        place: RawLinkPlace::Interface(interface.clone()),
        address: address.parse().ok()?,
        peer,
        tcp: TcpProfile::small(&small::Asked::default()).ok()?,
        connections: CONNECTIONS,
        memory_bytes: MEMORY_BYTES,
    };
    let pause = Duration::from_millis(number(0)?);
    Some(Asked { plan, way, pause, doubled: number(1)?, late: number(2)? })
}

async fn run(asked: Asked) -> io::Result<()> {
    let Asked { plan, way, pause, doubled, late } = asked;
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let random = clock.unwrap_or_default().as_nanos() as u64 ^ u64::from(std::process::id()) << 40;
    let link = RawLink::open(&plan.place, RawFrames::ToAddress(plan.address))?;
    let descriptor = LinkDescriptor::of(&link)?;
    let link = Faulty {
        link,
        doubled,
        late,
        numbers: random | 1,
        received: VecDeque::new(),
        late_received: None,
        late_sent: None,
    };
    let node = SmallNode::at(&plan, Box::new(link), descriptor, random)?;
    node.ready().await?;
    let stream = match way {
        Way::Connect(to) => node.connect(to).await?,
        Way::Listen(port) => {
            let listener = node.listen(port)?;
            eprintln!("listening");
            listener.accept().await?
        }
    };
    let (mut reader, mut writer) = split(stream);
    let sending = async {
        let sent = copy(&mut File::open("/dev/stdin").await?, &mut writer).await?;
        writer.shutdown().await?;
        Ok::<u64, io::Error>(sent)
    };
    let receiving = async {
        sleep(pause).await;
        let mut output = OpenOptions::new().write(true).open("/dev/stdout").await?;
        let received = copy(&mut reader, &mut output).await?;
        output.flush().await?;
        Ok::<u64, io::Error>(received)
    };
    let (sent, received) = tokio::try_join!(sending, receiving)?;
    let counted = reader.unsplit(writer);
    let facts = counted.facts();
    drop(counted);
    let is_closed = timeout(CLOSING, node.closed()).await.is_ok();
    let held = node.facts();
    eprintln!(
        "{{\"sent\": {sent}, \"received\": {received}, \"retransmitted\": {}, \"held_bytes\": {}, \
         \"most_bytes\": {}, \"is_closed\": {is_closed}}}",
        facts.retransmitted_segments,
        held.held_bytes,
        plan.most_bytes(),
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(asked) = parse(&arguments) else {
        eprintln!(
            "usage: small_tcp INTERFACE ADDRESS (connect HOST:PORT | listen PORT) [PAUSE_MS [DOUBLED LATE]]"
        );
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(run(asked))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("small_tcp: {error}");
            ExitCode::FAILURE
        }
    }
}
