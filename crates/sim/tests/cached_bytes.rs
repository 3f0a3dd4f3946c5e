//! A client reads what was written, with any cache; and if the machine stops at any time, nothing is missing on
//! its disk that was said to be there, or that has waited longer than it may.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lanlab_messages::{SimulatedDisk, SimulatedStore};
use lanlab_sim::file_service::{Contents, ServedFiles, Store};
use lanlab_sim::{Bounds, Cost, Ended};
use lanlab_stack::files::{FileAnswer, FileCall, Handle, Presence};
use lanlab_units::Instant;
use proptest::prelude::*;

#[path = "support/stores.rs"]
mod stores;

use stores::{MS, plan, world};

const CLIENTS: usize = 2;
/// Bytes of which one client is the only one that writes them: blocks have bytes of both.
const STRIPE: usize = 1_500;
const SIZE: usize = 12 * STRIPE;
/// When all has come to rest.
const REST: Instant = Instant::from_nanos(60_000 * MS);

#[derive(Debug, Clone)]
enum Step {
    /// A stripe of the client, and bytes in it.
    Write(usize, usize, usize),
    Read(usize, usize),
    Flush,
    Pause(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..SIZE / STRIPE / CLIENTS, 0..STRIPE, 1..=STRIPE)
            .prop_map(|(stripe, at, count)| Step::Write(stripe, at, count.min(STRIPE - at))),
        3 => (0..SIZE, 0_usize..5_000).prop_map(|(at, count)| Step::Read(at, count)),
        1 => Just(Step::Flush),
        1 => (0_u64..20).prop_map(Step::Pause),
    ]
}

fn policy() -> impl Strategy<Value = SimulatedStore> {
    let cache = (prop_oneof![Just(0_u32), 1_u32..40], any::<bool>(), 0_u32..5);
    let behind = (0_u32..20, 0_u64..20, any::<bool>());
    let machine = (any::<bool>(), any::<bool>(), any::<bool>(), 0_u64..3);
    (cache, behind, machine).prop_map(|(cache, behind, machine)| {
        let (cache_blocks, cache_of_client, read_ahead_blocks) = cache;
        let (write_behind_blocks, behind_ms, writes_full) = behind;
        let (overlaps, is_small, is_elevator, work_ms) = machine;

        let cost = Cost { each_ns: work_ms * MS, per_byte_ps: 0 };
        SimulatedStore {
            read: cost,
            write: cost,
            overlaps,
            block_bytes: if is_small { 512 } else { 4096 },
            cache_blocks,
            cache_of_client,
            read_ahead_blocks,
            write_behind_blocks: write_behind_blocks.min(cache_blocks),
            write_behind_ns: behind_ms * MS,
            writes_full,
            disk: SimulatedDisk { elevator: is_elevator, ..plan().disk },
            ..plan()
        }
    })
}

/// What the clients know.
#[derive(Default)]
struct Model {
    /// Of each byte every value that it was to have, the last one at the end.
    bytes: Vec<Vec<u8>>,
    /// Of each client the blocks that it has written, and whether the last time is not said to be on the disk.
    is_open: BTreeMap<(usize, u64), bool>,
    writes: u8,
}

impl Model {
    /// If the machine stops now: nothing is missing that was said to be on the disk.
    fn check(&self, store: &Store) {
        let missing = store.unwritten();
        let is_open =
            |block| (0..CLIENTS).any(|client| self.is_open.get(&(client, block)) == Some(&true));
        let is_said = |(_, block): &&(u64, u64)| !is_open(*block);
        assert_eq!(missing.iter().find(is_said), None, "said to be on the disk");
    }
}

const fn owner(at: usize) -> usize {
    at / STRIPE % CLIENTS
}

/// One client: its calls, one after the other.
async fn work(
    (client, steps): (usize, Vec<Step>),
    (store, contents): (Store, Rc<RefCell<Contents>>),
    (plan, model): (SimulatedStore, Rc<RefCell<Model>>),
) {
    let host = store.host().clone();
    let mut files = ServedFiles::new(contents, store.clone(), client as u32);
    let open = FileCall::Open {
        path: vec!["file".into()],
        read: true,
        write: true,
        presence: Presence::Old,
        truncate: false,
    };
    let FileAnswer::Opened { handle, .. } = files.call(open, &mut vec![]).await else { panic!() };
    let is_behind = plan.write_behind_blocks > 0;
    for step in steps {
        match step {
            Step::Write(stripe, at, count) => {
                let from = (stripe * CLIENTS + client) * STRIPE + at;
                let value = {
                    let model = &mut *model.borrow_mut();
                    model.writes = model.writes % 250 + 1;
                    for byte in &mut model.bytes[from..from + count] {
                        byte.push(model.writes);
                    }
                    for block in blocks(&plan, from, count) {
                        model.is_open.insert((client, block), true);
                    }
                    model.writes
                };
                let (offset, data) = (from as u64, 0..count);
                let write = FileCall::Write { handle, offset, data };
                let written = files.call(write, &mut vec![value; count]).await;
                assert_eq!(written, FileAnswer::Written(count as u32));
                for block in blocks(&plan, from, count) {
                    model.borrow_mut().is_open.insert((client, block), is_behind);
                }
            }
            Step::Read(at, count) => {
                let found = read(&mut files, handle, at, count).await;
                assert_eq!(found.len(), count.min(SIZE - at));
                let model = model.borrow();
                for (at, byte) in (at..).zip(&found) {
                    let known = &model.bytes[at];
                    let is_known = if owner(at) == client {
                        known.last() == Some(byte)
                    } else {
                        known.contains(byte)
                    };
                    assert!(is_known, "byte {at} of client {}: {byte} of {known:?}", owner(at));
                }
            }
            Step::Flush => {
                assert_eq!(
                    files.call(FileCall::Flush { handle }, &mut vec![]).await,
                    FileAnswer::Done
                );
                let mut model = model.borrow_mut();
                for (_, is_open) in model.is_open.iter_mut().filter(|one| one.0.0 == client) {
                    *is_open = false;
                }
            }
            Step::Pause(ms) => {
                let until = host.now().plus_nanos(ms * MS);
                host.clock().sleep_until(until).await;
            }
        }
        model.borrow().check(&store);
    }
}

async fn read(files: &mut ServedFiles, handle: Handle, at: usize, count: usize) -> Vec<u8> {
    let mut data = vec![];
    let call = FileCall::Read { handle, offset: at as u64, count: count as u32 };
    assert_eq!(files.call(call, &mut data).await, FileAnswer::Read);
    data
}

fn blocks(plan: &SimulatedStore, from: usize, count: usize) -> std::ops::RangeInclusive<u64> {
    let of_byte = |at: usize| at as u64 / u64::from(plan.block_bytes);
    of_byte(from)..=of_byte(from + count - 1)
}

/// Have clients work until a time; gives what is not on the disk then.
fn until(
    plan: SimulatedStore,
    steps: &[Vec<Step>; CLIENTS],
    (contents, model): (&Rc<RefCell<Contents>>, &Rc<RefCell<Model>>),
    end: Instant,
) -> BTreeSet<(u64, u64)> {
    let world = world();
    let host = world.host(0);
    let store = Store::new(host.clone(), plan);
    store.lay_out(&contents.borrow().files());
    for one in steps.iter().cloned().enumerate() {
        let (store, contents, model) = (store.clone(), Rc::clone(contents), Rc::clone(model));
        host.spawn("client", work(one, (store, contents), (plan, model)));
    }
    let clock = host.clock().clone();
    host.spawn("clock", async move { clock.sleep_until(REST).await });
    let ended = world.run(&Bounds { events: 10_000_000, until: end });
    assert!(matches!(ended, Ended::ProgramsDone | Ended::Time), "{ended:?}");
    model.borrow().check(&store);
    store.unwritten()
}

fn check(plan: SimulatedStore, steps: &[Vec<Step>; CLIENTS], stops_at: Option<Instant>) {
    let mut contents = Contents::new(1 << 20, Rc::new(|_| None));
    contents.put_bytes(&["file".into()], &vec![0; SIZE]).unwrap();
    let contents = Rc::new(RefCell::new(contents));
    let model = Rc::new(RefCell::new(Model { bytes: vec![vec![0]; SIZE], ..Model::default() }));
    let missing = until(plan, steps, (&contents, &model), stops_at.unwrap_or(REST));
    if stops_at.is_none() {
        assert!(missing.is_empty(), "have waited longer than they may: {missing:?}");
        // A new server, with an empty cache, has the same bytes.
        let again = [vec![Step::Read(0, SIZE)], vec![]];
        until(plan, &again, (&contents, &model), REST);
    }
}

proptest! {
    #[test]
    fn reads_return_the_written_data(
        plan in policy(),
        steps in [prop::collection::vec(step(), 0..30), prop::collection::vec(step(), 0..30)],
        stops_ms in 0_u64..200,
    ) {
        check(plan, &steps, Some(Instant::from_nanos(stops_ms * MS)));
        check(plan, &steps, None);
    }
}
