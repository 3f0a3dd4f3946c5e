//! The connection of a station: opened before the start, and reopened after a failure.

use lanlab_files::{Access, Fault, Result, Session};

use super::{FIRST_PAUSE_NS, GATHERED_BYTES, MOST_PAUSE_NS, READ_BACK, Station};
use crate::messages::Failure;
use crate::stations::context::{Connector, Context, count};
use crate::stations::job::paths;
use crate::stations::schedule::{Schedule, blocks};
use crate::{SETUP_ATTEMPTS, failure_of};
use lanlab_units::Clock;

impl<C: Connector> Station<C> {
    /// Connect, with retries while they may help, and open the file.
    pub async fn connected(
        number: u32,
        context: &Context<C, impl Clock>,
    ) -> std::result::Result<Self, Failure> {
        let began = context.clock.now();
        let mut pause_ns = FIRST_PAUSE_NS;
        for attempt in 1.. {
            let session = match context.connector.connect(number).await {
                Ok(session) => session,
                Err(fault) if fault.class.is_passing() && attempt < SETUP_ATTEMPTS => {
                    count(&mut context.counts.borrow_mut().setup_errors, &fault);
                    context.pause(pause_ns).await;
                    pause_ns = (2 * pause_ns).min(MOST_PAUSE_NS);
                    continue;
                }
                Err(fault) => return Err(named(number, fault)),
            };
            let (facts, manner) = (session.facts(), session.capabilities());
            let spec = &context.job.spec;
            let whole_files = manner.in_order;
            let blocks = blocks(spec, whole_files);
            let mut station = Self {
                number,
                paths: paths(spec, number, whole_files, blocks)?,
                session: Some(session),
                file: None,
                whole_files,
                gathers: manner.blocking
                    && !whole_files
                    && spec.message_size_bytes >= GATHERED_BYTES,
                schedule: Schedule::new(spec, number, blocks),
                writes: if context.job.writes() { vec![0; blocks as usize] } else { Vec::new() },
                generation: 0,
                head: None,
                last: [0; READ_BACK],
                written: 0,
                buffer: vec![0; spec.message_size_bytes as usize],
                readings: 0,
                operations: 0,
                failures: 0,
            };
            station.open(context).await.map_err(|fault| named(number, fault))?;
            let mut counts = context.counts.borrow_mut();
            counts.connect.record(context.clock.now().nanos_since(began).cast_signed());
            counts.agreed.get_or_insert((facts, manner));
            return Ok(station);
        }
        unreachable!("the loop ends with an attempt")
    }

    async fn open(&mut self, context: &Context<C, impl Clock>) -> Result<()> {
        if let Some(session) = &self.session
            && !self.whole_files
        {
            let access = if context.job.writes() { Access::Update } else { Access::Read };
            self.file = Some(session.open(&self.paths[0], access).await?);
        }
        Ok(())
    }

    pub(super) async fn reconnect(&mut self, context: &Context<C, impl Clock>) -> Result<()> {
        let mut pause_ns = FIRST_PAUSE_NS;
        for attempt in 0.. {
            let connected = match context.connector.connect(self.number).await {
                Ok(session) => {
                    self.session = Some(session);
                    self.open(context).await
                }
                Err(fault) => Err(fault),
            };
            let Err(fault) = connected else {
                context.counts.borrow_mut().reconnects += 1;
                return Ok(());
            };
            self.session = None;
            count(&mut context.counts.borrow_mut().reconnect_errors, &fault);
            let is_last = !fault.class.is_passing() || attempt >= context.job.spec.retries;
            if is_last || context.job.stopped().is_some() {
                return Err(fault);
            }
            context.pause(pause_ns).await;
            pause_ns = (2 * pause_ns).min(MOST_PAUSE_NS);
        }
        unreachable!("the loop ends with an attempt")
    }
}

fn named(station: u32, fault: Fault) -> Failure {
    let mut failure = failure_of(fault);
    failure.message = format!("station {station}: {}", failure.message);
    failure
}
