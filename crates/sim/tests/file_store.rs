//! What files cost on a simulated machine: hits, misses, reading ahead, writing behind, and one at a time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use lanlab_messages::{SimulatedDisk, SimulatedStore, SimulatedStoreFacts};
use lanlab_sim::file_service::{Contents, ServedFiles, Store};
use lanlab_sim::{Bounds, Cost, Ended};
use lanlab_stack::files::{FileAnswer, FileCall, Handle, Presence};
use lanlab_units::Instant;

#[path = "support/stores.rs"]
mod stores;

use stores::{BLOCK, MS, plan, world};

const FILE: u64 = 1;
const SIZE: u64 = 100 * BLOCK;

/// Use a store; gives how long that took, ms, and what the store has done.
fn used<F: Future<Output = ()> + 'static>(
    plan: SimulatedStore,
    using: impl FnOnce(Store) -> F,
) -> (f64, SimulatedStoreFacts) {
    let world = world();
    let host = world.host(0);
    let store = Store::new(host.clone(), plan);
    let ended_at = Rc::new(Cell::new(Instant::ZERO));
    let (at, clock, work) = (Rc::clone(&ended_at), host.clone(), using(store.clone()));
    host.spawn("user", async move {
        work.await;
        at.set(clock.now());
    });
    let far = Bounds { events: 1_000_000, until: Instant::from_nanos(10_000 * MS) };
    assert_eq!(world.run(&far), Ended::ProgramsDone);
    (ended_at.get().as_nanos() as f64 / MS as f64, store.facts())
}

#[test]
fn a_block_in_the_cache_is_not_read_again() {
    let cached = SimulatedStore { cache_blocks: 8, ..plan() };
    let (took_ms, facts) = used(cached, |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!(
        (took_ms, facts.cache_hits, facts.cache_misses, facts.disk_accesses),
        (2.0, 4, 2, 2)
    );
    // Without a cache each is read each time.
    let (took_ms, facts) = used(plan(), |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!((took_ms, facts.disk_accesses), (6.0, 6));
}

#[test]
fn clients_share_a_cache_or_have_their_own() {
    for (cache_of_client, accesses) in [(false, 1), (true, 2)] {
        let plan = SimulatedStore { cache_blocks: 8, cache_of_client, ..plan() };
        let (_, facts) = used(plan, |store| async move {
            store.read(1, FILE, SIZE, 0, 512).await;
            store.read(2, FILE, SIZE, 0, 512).await;
        });
        assert_eq!(facts.disk_accesses, accesses);
    }
}

#[test]
fn read_ahead_overlaps_with_client_work() {
    let ahead = SimulatedStore { cache_blocks: 32, read_ahead_blocks: 4, ..plan() };
    let (took_ms, facts) = used(ahead, |store| async move {
        for block in 0..20 {
            store.read(0, FILE, SIZE, block * BLOCK, BLOCK).await;
        }
    });
    assert!(facts.disk_accesses < 12, "{facts:?}");
    assert!(took_ms < 12.0, "{took_ms}");
    assert_eq!(facts.cache_misses, 1);
}

/// Four blocks ahead of the one that is read, in a file of twelve whose last is cut: of each access the first block is
/// waited for, and those behind it come at the same time.
#[test]
fn read_ahead_refills_at_half_and_stops_at_the_end() {
    let ahead = SimulatedStore { cache_blocks: 32, read_ahead_blocks: 4, ..plan() };
    let (_, facts) = used(ahead, |store| async move {
        let mut ended_ms = Vec::new();
        for block in 0..12 {
            store.read(0, FILE, 12 * BLOCK - 100, block * BLOCK, BLOCK - 100).await;
            ended_ms.push(store.host().now().as_nanos() / MS);
        }
        // 0 to 4 are read for 0, 5 to 7 when 3 is there, 8 to 10 when 6 is, and 11 when 10 is.
        assert_eq!(ended_ms, [1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]);
    });
    assert_eq!((facts.disk_accesses, facts.disk_sectors), (4, 12 * 8));
    assert_eq!((facts.cache_hits, facts.cache_misses), (11, 1));
    // What is there is not read once more: 2 to 6, then 0 and 1.
    let (_, facts) = used(ahead, |store| async move {
        for block in [2, 0] {
            store.read(0, FILE, SIZE, block * BLOCK, BLOCK).await;
        }
    });
    assert_eq!((facts.disk_accesses, facts.disk_sectors, facts.cache_misses), (2, 7 * 8, 2));
}

/// A disk of one head and 100 sectors a turn of 10 ms, whose arm takes 1 ms.
#[test]
fn directories_are_on_the_first_track_and_files_after_it() {
    let disk = SimulatedDisk {
        heads: 1,
        turn_ns: 10 * MS,
        seek_each_ns: MS,
        overhead_ns: 0,
        ..plan().disk
    };
    let plan = SimulatedStore { name_sectors: 102, change_sectors: 2, disk, ..plan() };
    let (_, facts) = used(plan, |store| async move {
        let mut ended_us = Vec::new();
        let now_us = || store.host().now().as_nanos() / 1_000;
        store.look().await;
        ended_us.push(now_us());
        store.read(0, FILE, SIZE, 0, BLOCK).await;
        ended_us.push(now_us());
        store.change().await;
        ended_us.push(now_us());
        store.read(0, FILE, SIZE, BLOCK, BLOCK).await;
        ended_us.push(now_us());
        // The whole track and two of its sectors again; the first eight of the next; two; eight behind the eight.
        assert_eq!(ended_us, [10_200, 20_800, 30_200, 41_600]);
    });
    assert_eq!((facts.disk_accesses, facts.disk_sectors), (102 + 1 + 2 + 1, 102 + 8 + 2 + 8));
    assert_eq!(facts.disk_seek_ns, 3 * MS);
}

#[test]
fn writes_are_answered_after_or_before_the_disk() {
    let writing = |store: Store| async move {
        for block in 0..4 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
        }
    };
    let (took_ms, facts) = used(SimulatedStore { cache_blocks: 8, ..plan() }, writing);
    assert_eq!((took_ms, facts.disk_accesses, facts.dirty_blocks), (4.0, 4, 0));
    let behind = SimulatedStore { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (took_ms, facts) = used(behind, writing);
    assert_eq!((took_ms, facts.disk_accesses, facts.dirty_blocks), (0.0, 0, 4));
    // What does not wait longer than it may is on the disk, in one access.
    let (_, facts) = used(behind, |store| async move {
        writing(store.clone()).await;
        let host = store.host().clone();
        host.clock().sleep_until(Instant::from_nanos(150 * MS)).await;
    });
    assert_eq!((facts.disk_accesses, facts.disk_sectors, facts.dirty_blocks), (1, 32, 0));
}

#[test]
fn dirty_data_is_bounded() {
    let behind = SimulatedStore { cache_blocks: 64, write_behind_blocks: 4, ..plan() };
    let (took_ms, facts) = used(behind, |store| async move {
        for block in 0..40 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
            assert!(store.facts().dirty_blocks <= 4);
        }
    });
    assert!(took_ms > 0.0 && facts.disk_accesses >= 4, "{took_ms} {facts:?}");
}

/// Each of five blocks is a millisecond's access, as none lies next to another.
#[test]
fn dirty_data_is_flushed_above_half_or_after_its_delay() {
    let behind = SimulatedStore { cache_blocks: 64, write_behind_blocks: 8, ..plan() };
    let (_, facts) = used(behind, |store| async move {
        let clock = store.host().clock().clone();
        for block in [0, 2, 4, 6] {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
        }
        clock.sleep_until(Instant::from_nanos(50 * MS)).await;
        assert_eq!(store.facts().disk_accesses, 0);
        store.write(0, FILE, 8 * BLOCK, BLOCK).await;
        clock.sleep_until(Instant::from_nanos(52 * MS + MS / 2)).await;
        assert_eq!((store.facts().disk_accesses, store.facts().dirty_blocks), (3, 2));
        clock.sleep_until(Instant::from_nanos(56 * MS)).await;
    });
    assert_eq!((facts.disk_accesses, facts.dirty_blocks), (5, 0));
}

#[test]
fn a_disk_access_writes_at_most_sixteen_blocks() {
    for (blocks, accesses) in [(16, 1), (17, 2)] {
        let behind = SimulatedStore { cache_blocks: 64, write_behind_blocks: 64, ..plan() };
        let (_, facts) = used(behind, move |store| async move {
            store.write(0, FILE, 0, blocks * BLOCK).await;
            store.host().clock().sleep_until(Instant::from_nanos(150 * MS)).await;
        });
        assert_eq!((facts.disk_accesses, facts.disk_sectors), (accesses, blocks * 8));
    }
}

/// Eight writes to a block: seven are gathered, and the one that fills it waits for the disk.
#[test]
fn partial_writes_are_gathered_into_blocks() {
    let behind = SimulatedStore { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    for (writes_full, expected_ms) in [(false, 0.0), (true, 3.0)] {
        let (took_ms, facts) = used(SimulatedStore { writes_full, ..behind }, |store| async move {
            for part in 0..=(8 * 3) {
                store.write(0, FILE, part * BLOCK / 8, BLOCK / 8).await;
            }
        });
        let dirty_blocks = if writes_full { 1 } else { 4 };
        assert_eq!((took_ms, facts.dirty_blocks), (expected_ms, dirty_blocks));
    }
}

/// Four writes of half a block: each half is read with its block once, and is on the disk when its block leaves.
#[test]
fn only_partial_blocks_wait_in_the_cache() {
    let halves = |keeps_parts| {
        let plan = SimulatedStore { cache_blocks: 1, keeps_parts, ..plan() };
        let (_, facts) = used(plan, |store| async move {
            store.lay_out(&BTreeMap::from([(FILE, SIZE)]));
            for half in 0..4 {
                store.write(0, FILE, half * BLOCK / 2, BLOCK / 2).await;
            }
        });
        (facts.disk_accesses, facts.dirty_blocks)
    };
    // Two blocks are read, and the first is written when the second comes.
    assert_eq!(halves(true), (3, 1));
    // At once each half is written by itself: of whole sectors nothing is read before.
    assert_eq!(halves(false), (4, 0));
    let dos = SimulatedStore { cache_blocks: 8, keeps_parts: true, ..plan() };
    let (_, facts) = used(dos, |store| async move {
        store.lay_out(&BTreeMap::from([(FILE, SIZE)]));
        store.write(0, FILE, BLOCK / 2, 2 * BLOCK).await;
        // One whole, two in part, which are flushed.
        assert_eq!((store.facts().disk_accesses, store.facts().dirty_blocks), (3, 2));
        store.flush(0, FILE).await;
    });
    assert_eq!((facts.disk_accesses, facts.dirty_blocks), (5, 0));
}

#[test]
fn flushed_blocks_reach_the_disk_and_removed_ones_do_not() {
    let behind = SimulatedStore { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (_, facts) = used(behind, |store| async move {
        store.write(0, FILE, 0, 2 * BLOCK).await;
        store.flush(0, FILE).await;
        store.write(0, 2, 0, 2 * BLOCK).await;
        store.forget(2);
    });
    assert_eq!((facts.disk_sectors, facts.dirty_blocks), (16, 0));
}

/// Three blocks that are being written already when they are flushed: each takes 1 ms, and the flush as long.
#[test]
fn a_flush_waits_for_writes_in_progress() {
    let behind =
        SimulatedStore { cache_blocks: 8, write_behind_blocks: 8, write_behind_ns: MS, ..plan() };
    let (took_ms, facts) = used(behind, |store| async move {
        for block in [0, 2, 4] {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
        }
        let clock = store.host().clock().clone();
        clock.sleep_until(Instant::from_nanos(3 * MS + MS / 2)).await;
        assert_eq!((store.facts().dirty_blocks, store.unwritten().len()), (0, 1));
        store.flush(0, FILE).await;
        assert!(store.unwritten().is_empty());
    });
    assert_eq!((took_ms, facts.dirty_blocks), (4.0, 0));
}

/// The first client writes again while the blocks of the second are written, its own being on the disk by then.
#[test]
fn blocks_arriving_during_a_flush_are_written_too() {
    let behind = SimulatedStore {
        cache_blocks: 8,
        cache_of_client: true,
        write_behind_blocks: 8,
        write_behind_ns: MS,
        ..plan()
    };
    let (_, facts) = used(behind, |store| async move {
        for (client, block) in [(0, 0), (1, 2), (1, 4), (1, 6)] {
            store.write(client, FILE, block * BLOCK, BLOCK).await;
        }
        let clock = store.host().clock().clone();
        clock.sleep_until(Instant::from_nanos(3 * MS + MS / 2)).await;
        assert_eq!(store.facts().dirty_blocks, 1);
        store.write(0, FILE, 0, BLOCK).await;
        clock.sleep_until(Instant::from_nanos(50 * MS)).await;
    });
    assert_eq!(facts.dirty_blocks, 0);
}

/// Sectors 1 and 2; then the last of a block and the first of the next.
#[test]
fn partial_blocks_are_written_as_read_modify_write_sectors() {
    let write = |is_there: bool| {
        let (_, facts) = used(plan(), move |store| async move {
            if is_there {
                store.lay_out(&[(FILE, SIZE)].into());
            }
            store.write(0, FILE, 1_000, 100).await;
            store.write(0, FILE, BLOCK - 1, 2).await;
        });
        [facts.disk_accesses, facts.disk_sectors]
    };
    // Of a new block there is nothing to read; that of the first write is there for the second.
    assert_eq!(write(false), [3 + 1, 2 + 2 + 1]);
    assert_eq!(write(true), [3 + 4, 4 + 4]);
}

/// 1, 2 and 4 ms of the processor to open, to close and for any other call; 3 sectors to find a name, 5 to change one.
#[test]
fn call_time_includes_its_directory_sectors() {
    let plan = SimulatedStore {
        open_ns: MS,
        close_ns: 2 * MS,
        other_ns: 4 * MS,
        name_sectors: 3,
        change_sectors: 5,
        ..plan()
    };
    let took = |(took_ms, facts): (f64, SimulatedStoreFacts)| (took_ms, facts.disk_accesses);
    assert_eq!(took(used(plan, |store| async move { store.look().await })), (4.0 + 3.0, 3));
    assert_eq!(took(used(plan, |store| async move { store.change().await })), (4.0 + 5.0, 5));
    for (is_change, change) in [(false, 0), (true, 5)] {
        let opened = used(plan, move |store| async move { store.open(is_change).await });
        assert_eq!(took(opened), (1.0 + 3.0 + change as f64, 3 + change));
        let closed = used(plan, move |store| async move { store.close(is_change).await });
        assert_eq!(took(closed), (2.0 + change as f64, change));
    }
}

/// A file of 100 blocks takes 800 sectors, of which the last are three cylinders behind the first.
#[test]
fn partial_writes_update_their_own_block() {
    let disk = SimulatedDisk { turn_ns: 10 * MS, seek_each_ns: MS, ..plan().disk };
    let (_, facts) = used(SimulatedStore { disk, ..plan() }, |store| async move {
        store.lay_out(&[(FILE, SIZE)].into());
        for block in [0, 99, 99, 0] {
            store.write(0, FILE, block * BLOCK + 512, 512).await;
        }
    });
    assert_eq!((facts.disk_accesses, facts.disk_seek_ns), (4, 2 * MS));
}

/// 10 blocks of 750 bytes, one after the other in a file of 15 sectors, by a system that moves one sector at a time
/// past buffers too few for the file: each sector is read once in a round, as what is left of it stays for the next
/// block, and takes a turn of the disk and the places between two sectors, as the next has passed by then.
#[test]
fn sector_reads_take_a_turn_plus_interleave_each() {
    let turn_ns = 17 * MS;
    let disk = SimulatedDisk {
        sectors_per_track: 17,
        interleave: 3,
        turn_ns,
        overhead_ns: 5 * MS / 2,
        ..plan().disk
    };
    let dos = SimulatedStore { block_bytes: 512, cache_blocks: 10, disk, ..plan() };
    let (took_ms, facts) = used(dos, |store| async move {
        store.lay_out(&[(FILE, 7_500)].into());
        for block in 0..100 {
            store.read(0, FILE, 7_500, block % 10 * 750, 750).await;
        }
    });
    assert_eq!(facts.cache_misses, 150);
    // Of 15 sectors 14 come after the one before; back to the first it is 9 places (17 - 14 * 3 % 17 + 3 - 3).
    let [least_ms, most_ms] = [140.0 * 20.0, 150.0 * 20.0];
    assert!((least_ms..=most_ms).contains(&took_ms), "{took_ms}");
}

/// The same file written: each sector that a block ends or begins in is written with both blocks, and what is cut at
/// its end is read before.
#[test]
fn sector_writes_read_partial_sectors_first() {
    let dos = SimulatedStore { block_bytes: 512, cache_blocks: 10, ..plan() };
    let (_, facts) = used(dos, |store| async move {
        store.lay_out(&[(FILE, 7_500)].into());
        for block in 0..100 {
            store.write(0, FILE, block % 10 * 750, 750).await;
        }
    });
    // 15 sectors, 9 of them twice, in each of 10 rounds; of those each is read for the first of its two blocks, and
    // so is the last one, of which the file's end is a part.
    assert_eq!((facts.disk_accesses, facts.disk_sectors), (10 * (24 + 10), 10 * (24 + 10)));
}

/// Two clients, each call 1 ms of the processor and 1 ms of the disk.
#[test]
fn overlapping_servers_compute_during_disk_accesses() {
    for (overlaps, expected_ms) in [(false, 8), (true, 5)] {
        let read = Cost { each_ns: MS, per_byte_ps: 0 };
        let plan = SimulatedStore { overlaps, read, ..plan() };
        let (took_ms, _) = used(plan, |store| async move {
            let reading = |store: Store, client: u32| async move {
                for block in 0..2 {
                    let _turn = store.turn().await;
                    store.read(client, FILE, SIZE, block * BLOCK, BLOCK).await;
                }
            };
            let host = store.host().clone();
            let other = host.spawn("other", reading(store.clone(), 2));
            reading(store, 1).await;
            other.await;
        });
        assert_eq!(took_ms.round() as u64, expected_ms, "overlaps: {overlaps}");
    }
}

/// The answer is on its way when the processor, which has 5 ms to do, has nothing else left.
#[test]
fn a_sequential_server_starts_the_next_call_after_sending_the_reply() {
    let (took_ms, _) = used(SimulatedStore { overlaps: false, ..plan() }, |store| async move {
        let host = store.host().clone();
        let turn = store.turn().await;
        let worker = host.clone();
        host.spawn("work", async move { worker.compute(5 * MS).await });
        store.answered(turn);
        store.turn().await;
    });
    assert_eq!((took_ms * 1e6).round() as u64, 5 * MS + 1);
}

/// 1 ms to open, 2 to close, 8 to read, 16 to write and 4 for all else; 3 sectors to find a name and 5 to change one, of
/// which each takes 1 ms, as does a block.
#[test]
fn served_calls_cost_by_their_kind() {
    let ms = |ms: u64| Cost { each_ns: ms * MS, per_byte_ps: 0 };
    let plan = SimulatedStore {
        open_ns: MS,
        close_ns: 2 * MS,
        read: ms(8),
        write: ms(16),
        other_ns: 4 * MS,
        name_sectors: 3,
        change_sectors: 5,
        ..plan()
    };
    let mut contents = Contents::new(1 << 20, Rc::new(|_| None));
    let path = |name: &str| vec![name.to_owned()];
    contents.put_bytes(&path("old"), &[1; 100]).unwrap();
    let contents = Rc::new(RefCell::new(contents));
    used(plan, move |store| async move {
        let mut files = ServedFiles::new(contents, store.clone(), 1);
        let open = |name: &str, presence, truncate| FileCall::Open {
            path: path(name),
            read: true,
            write: true,
            presence,
            truncate,
        };
        let read = |handle| FileCall::Read { handle, offset: 50, count: 100 };
        let write = |handle| FileCall::Write { handle, offset: 0, data: 0..4096 };
        let close = |handle| FileCall::Close { handle };
        // Handles are numbered with the files.
        let [old, new, emptied, none] = [2, 4, 5, 99].map(Handle);
        let (look, change) = (4 + 3, 4 + 5);
        let list = FileCall::List { path: vec![], after: String::new(), most: 9 };
        let change_old =
            FileCall::Change { path: path("old"), modified_s: Some(1), is_read_only: None };
        for (call, took_ms) in [
            (FileCall::Look { path: path("old") }, look),
            (list, look),
            (FileCall::Space, look),
            (open("old", Presence::Old, false), 1 + 3),
            (open("new", Presence::New, false), 1 + 3 + 5),
            (open("old", Presence::Old, true), 1 + 3 + 5),
            // It is empty now, and nothing is read.
            (read(old), 8),
            (write(new), 16 + 1),
            (read(new), 8 + 1),
            (FileCall::Flush { handle: new }, 4),
            (close(new), 2 + 5),
            (close(old), 2),
            (FileCall::SetSize { handle: emptied, size_bytes: 9 }, change),
            (change_old, change),
            (FileCall::Rename { from: path("old"), to: path("older") }, change),
            (FileCall::MakeDirectory { path: path("d") }, change),
            (FileCall::RemoveDirectory { path: path("d") }, change),
            (FileCall::Remove { path: path("new") }, change),
        ] {
            let began = store.host().now();
            let answer = files.call(call.clone(), &mut vec![7; 4096]).await;
            assert!(!matches!(answer, FileAnswer::Refused(_)), "{call:?}: {answer:?}");
            let took_ns = store.host().now().nanos_since(began);
            assert_eq!(took_ns, took_ms * MS, "{call:?}");
        }
        // To refuse a call takes the look for its name.
        for call in [
            FileCall::Look { path: path("missing") },
            open("missing", Presence::Old, false),
            read(none),
            write(none),
            FileCall::Remove { path: path("missing") },
            FileCall::MakeDirectory { path: path("older") },
        ] {
            let began = store.host().now();
            let answer = files.call(call.clone(), &mut vec![7; 4096]).await;
            assert!(matches!(answer, FileAnswer::Refused(_)), "{call:?}: {answer:?}");
            assert_eq!(store.host().now().nanos_since(began), look * MS, "{call:?}");
        }
    });
}

/// What waits to be written of a file that a client removes is never written.
#[test]
fn removed_files_leave_the_cache() {
    let behind = SimulatedStore { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let contents = Rc::new(RefCell::new(Contents::new(1 << 20, Rc::new(|_| None))));
    let (_, facts) = used(behind, |store| async move {
        let mut files = ServedFiles::new(contents, store.clone(), 1);
        let path = vec!["file".to_owned()];
        let open = FileCall::Open {
            path: path.clone(),
            read: true,
            write: true,
            presence: Presence::New,
            truncate: false,
        };
        let opened = files.call(open, &mut vec![]).await;
        let FileAnswer::Opened { handle, .. } = opened else { panic!("{opened:?}") };
        let write = FileCall::Write { handle, offset: 0, data: 0..4096 };
        files.call(write, &mut vec![7; 4096]).await;
        assert_eq!(store.facts().dirty_blocks, 1);
        files.call(FileCall::Remove { path }, &mut vec![]).await;
    });
    assert_eq!((facts.dirty_blocks, facts.disk_sectors), (0, 0));
}
