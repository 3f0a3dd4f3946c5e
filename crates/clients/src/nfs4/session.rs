//! A client and its session at a server: slots, each for one call at a time (RFC 8881, section 2.10.6).

use std::cell::{Cell, RefCell};
use std::time::Duration;

use lanlab_files::{Class, Fault, Result, Target};
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs4::operation as op;
use lanlab_wire::nfs4::{COMPOUND, MAX_OPAQUE_OCTETS, MINOR_VERSION, NFS, PORT, Status};
use tokio::sync::{AcquireError, Semaphore};
use tokio::time::{Instant, sleep};

use crate::nfs::connection::{Answer, Connection, LONGEST};
use crate::nfs::mounting;
use crate::nfs::status::fault_of;

use super::compound::{Compound, Results, read_status};

/// Slots to request. A station has few calls in flight.
const SLOTS: u32 = 16;
/// Operations per compound to request, and operations of the longest one besides its LOOKUPs.
const OPERATIONS: u32 = 64;
pub const LONGEST_COMPOUND: u32 = 7;
/// Upper bound of a call or an answer without its data, even with a path.
const OVERHEAD_OCTETS: u32 = 2048;

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Client {
    pub connection: Connection,
    patience: Duration,
    begun: RefCell<Begun>,
    free: Semaphore,
    pub limits: ChannelLimits,
    pub server: Option<String>,
    /// After this time without a call, the server may forget the client and its open files.
    pub lease: Duration,
    renewed: Cell<Instant>,
}

#[derive(Debug, Default)]
struct Begun {
    client: u64,
    session: [u8; 16],
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    sequence: u32,
    is_busy: bool,
}

/// Limits that the server sets for a session (section 18.36).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChannelLimits {
    pub request: u32,
    pub response: u32,
    pub operations: u32,
    pub slots: u32,
}

impl ChannelLimits {
    /// Maximum data bytes in a call and in an answer.
    pub fn data(self) -> (u32, u32) {
        (
            self.request.saturating_sub(OVERHEAD_OCTETS),
            self.response.saturating_sub(OVERHEAD_OCTETS),
        )
    }

    /// LOOKUPs per path in a compound. A rename has two paths.
    pub fn lookups(self) -> usize {
        ((self.operations.saturating_sub(LONGEST_COMPOUND)) / 2).max(1) as usize
    }
}

impl Client {
    pub async fn begin(target: &Target) -> Result<Self> {
        let mut client = Self {
            connection: mounting::connect_to(target, target.port.unwrap_or(PORT)).await?,
            patience: Duration::from_nanos(target.timeout_ns),
            begun: RefCell::default(),
            free: Semaphore::new(0),
            limits: ChannelLimits::default(),
            server: None,
            lease: Duration::MAX,
            renewed: Cell::new(Instant::now()),
        };
        (client.limits, client.server) = client.introduce().await?;
        client.free.add_permits(client.limits.slots as usize);
        Ok(client)
    }

    /// Register a new client at the server, and create its session.
    async fn introduce(&self) -> Result<(ChannelLimits, Option<String>)> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Fault::new(Class::Local, format!("no random numbers: {error}")))?;
        let answer = self.alone(op::EXCHANGE_ID, |writer| write_client(writer, random)).await?;
        let (client, sequence, server) =
            read_client(Results(answer.reader()).of(op::EXCHANGE_ID)?)?;
        let arguments = |writer: &mut Writer| write_session(writer, client, sequence);
        let answer = self.alone(op::CREATE_SESSION, arguments).await?;
        let (session, limits) = read_session(Results(answer.reader()).of(op::CREATE_SESSION)?)?;
        let slots = vec![Slot { sequence: 1, is_busy: false }; limits.slots as usize];
        *self.begun.borrow_mut() = Begun { client, session, slots };
        let whole = |writer: &mut Writer| writer.boolean(false);
        let reclaimed = Compound::default().op(op::RECLAIM_COMPLETE, whole);
        let answer = self.patiently(async || self.in_slot(&reclaimed, &[]).await).await?;
        Results(answer.reader()).of(op::RECLAIM_COMPLETE)?;
        Ok((limits, server))
    }

    /// The client's number at the server, which changes with [`Self::awake`].
    pub fn id(&self) -> u64 {
        self.begun.borrow().client
    }

    /// After an idle time, renew the lease, or begin anew if the server has forgotten this client.
    pub async fn awake(&self) -> Result<()> {
        let is_fresh = || self.renewed.get().elapsed() < self.lease / 2;
        if is_fresh() {
            return Ok(());
        }
        let _all = self.free.acquire_many(self.limits.slots).await.map_err(closed)?;
        if is_fresh() {
            return Ok(());
        }
        let nothing = Compound::default();
        match self.patiently(async || self.in_slot(&nothing, &[]).await).await {
            Err(fault) if fault.class == Class::Reset => match self.introduce().await? {
                (limits, _) if limits == self.limits => Ok(()),
                _ => Err(Fault::new(Class::Reset, "the server has new limits").hint("run again")),
            },
            done => done.map(drop),
        }
    }

    /// Carry out a compound that ends with `data`, which is opaque data or empty, in a slot of the session.
    /// The answer begins with the results after that of SEQUENCE.
    pub async fn call(&self, compound: &Compound, data: &[u8]) -> Result<Answer> {
        self.awake().await?;
        self.patiently(async || {
            let _permit = self.free.acquire().await.map_err(closed)?;
            self.in_slot(compound, data).await
        })
        .await
    }

    async fn in_slot(&self, compound: &Compound, data: &[u8]) -> Result<(Status, Answer)> {
        let (slot, sequence, highest) = self.take_slot()?;
        let head = Compound::default().op(op::SEQUENCE, |writer| {
            writer.fixed(&self.begun.borrow().session);
            for word in [sequence, slot, highest] {
                writer.u32(word);
            }
            writer.boolean(false);
        });
        let asked = &head.octets()[4..32];
        let mut answer = self.send(&[&head, compound], data).await?;
        let mut reader = answer.reader();
        let status = read_status(&mut reader)?;
        let mut results = Results(reader);
        let begun = results.of(op::SEQUENCE).map(drop);
        let given = begun.is_ok().then(|| results.0.fixed(36)).transpose()?;
        if given.is_some_and(|given| given[..24] != asked[..24]) {
            return Err(Fault::new(Class::Protocol, "the answer to another slot"));
        }
        // A slot that was not used keeps its sequence number.
        let sequence = sequence.wrapping_add(u32::from(begun.is_ok()));
        self.begun.borrow_mut().slots[slot as usize] = Slot { sequence, is_busy: false };
        if !matches!(status, Status::DELAY | Status::GRACE) {
            begun?;
        }
        self.renewed.set(Instant::now());
        answer.begin_at(results.0.rest().len());
        Ok((status, answer))
    }

    /// Carry out one operation outside of a session.
    async fn alone(&self, operation: u32, arguments: impl Fn(&mut Writer)) -> Result<Answer> {
        let compound = Compound::default().op(operation, arguments);
        self.patiently(async || {
            let mut answer = self.send(&[&compound], &[]).await?;
            let mut reader = answer.reader();
            let status = read_status(&mut reader)?;
            let rest_octets = reader.rest().len();
            answer.begin_at(rest_octets);
            Ok((status, answer))
        })
        .await
    }

    /// Retry while the server asks for a delay (section 15.1.1.3) and the timeout allows it.
    async fn patiently(&self, ask: impl AsyncFn() -> Result<(Status, Answer)>) -> Result<Answer> {
        let (until, mut pause) = (Instant::now() + self.patience, FIRST_PAUSE);
        loop {
            let (status, answer) = ask().await?;
            if !matches!(status, Status::DELAY | Status::GRACE) {
                return Ok(answer);
            }
            if Instant::now() + pause > until {
                return Err(fault_of(status, NFS.1));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn send(&self, parts: &[&Compound], data: &[u8]) -> Result<Answer> {
        let arguments = |writer: &mut Writer| {
            writer.opaque(&[]); // Tag.
            writer.u32(MINOR_VERSION);
            writer.u32(parts.iter().map(|part| part.count).sum());
            for part in parts {
                writer.fixed(part.octets());
            }
        };
        self.connection.call(NFS, COMPOUND, arguments, data).await
    }

    /// The lowest free slot, its next number, and the highest slot in use.
    fn take_slot(&self) -> Result<(u32, u32, u32)> {
        let slots = &mut self.begun.borrow_mut().slots;
        // A call that was dropped keeps its slot.
        let Some(free) = slots.iter().position(|slot| !slot.is_busy) else {
            return Err(Fault::new(Class::Reset, "a call was dropped before its answer"));
        };
        slots[free].is_busy = true;
        let highest = slots.iter().rposition(|slot| slot.is_busy).unwrap_or(free);
        Ok((free as u32, slots[free].sequence, highest as u32))
    }

    /// End the session and the client: a courtesy, as both end with their lease.
    pub async fn end(self) {
        let Begun { client, session, .. } = self.begun.take();
        let _ = self.alone(op::DESTROY_SESSION, |writer| writer.fixed(&session)).await;
        let _ = self.alone(op::DESTROY_CLIENTID, |writer| writer.u64(client)).await;
    }
}

fn closed(_: AcquireError) -> Fault {
    Fault::new(Class::Reset, "the session has ended")
}

/// `EXCHANGE_ID4args` (section 18.35) with a unique client name.
fn write_client(writer: &mut Writer, random: [u8; 16]) {
    const USE_NON_PNFS: u32 = 0x0001_0000;
    const SP4_NONE: u32 = 0;
    let (verifier, name) = random.split_at(8);
    writer.fixed(verifier);
    writer.opaque(&[b"lanlab-", name].concat());
    for word in [USE_NON_PNFS, SP4_NONE, 0] {
        writer.u32(word);
    }
}

/// The client's number, the first sequence number of `CREATE_SESSION`, and the name of the server's program.
pub fn read_client(
    reader: &mut Reader<'_>,
) -> std::result::Result<(u64, u32, Option<String>), Garbled> {
    let (id, sequence, _flags) = (reader.u64()?, reader.u32()?, reader.u32()?);
    if reader.u32()? != 0 {
        return Err(Garbled); // State protection that was not requested.
    }
    reader.u64()?;
    for _owner_then_scope in 0..2 {
        reader.opaque(MAX_OPAQUE_OCTETS)?;
    }
    if reader.u32()? == 0 {
        return Ok((id, sequence, None));
    }
    reader.opaque(MAX_OPAQUE_OCTETS)?;
    let name = String::from_utf8_lossy(reader.opaque(MAX_OPAQUE_OCTETS)?).into_owned();
    let is_shown = !name.is_empty() && !name.chars().any(char::is_control);
    Ok((id, sequence, is_shown.then_some(name)))
}

/// `CREATE_SESSION4args` (section 18.36): only the client makes calls.
pub fn write_session(writer: &mut Writer, client: u64, sequence: u32) {
    const CACHED: u32 = 4096;
    let longest = LONGEST as u32;
    writer.u64(client);
    writer.u32(sequence);
    writer.u32(0);
    // Alignment, request, response, cached response, operations, slots, RDMA; then the same for
    // calls from the server, which are not used.
    for word in [0, longest, longest, CACHED, OPERATIONS, SLOTS, 0] {
        writer.u32(word);
    }
    for word in [0, CACHED, CACHED, 0, 2, 1, 0] {
        writer.u32(word);
    }
    for word in [0x4000_0000, 1, 0] {
        writer.u32(word); // Program of calls from the server, with AUTH_NONE.
    }
}

pub fn read_session(reader: &mut Reader<'_>) -> Result<([u8; 16], ChannelLimits)> {
    let session = reader.fixed(16)?.try_into().unwrap_or_default();
    let mut words = [0; 8];
    for word in &mut words {
        *word = reader.u32()?;
    }
    let [_sequence, _flags, _alignment, request, response, _kept, operations, slots] = words;
    let limits = ChannelLimits {
        request: request.min(LONGEST as u32),
        response: response.min(LONGEST as u32),
        operations,
        slots: slots.min(SLOTS),
    };
    let (write, read) = limits.data();
    if write == 0 || read == 0 || operations <= LONGEST_COMPOUND || slots == 0 {
        let message = format!(
            "the server's sessions are too small: requests of {request} and responses of {response} octets, \
             {operations} operations, {slots} slots"
        );
        return Err(Fault::new(Class::Unsupported, message));
    }
    Ok((session, limits))
}
