//! What files cost on a simulated machine: hits, misses, reading ahead, writing behind, and one at a time.
#![cfg(feature = "services")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use lanlab_sim::file_service::{DiskPlan, Store, StoreFacts, StorePlan};
use lanlab_sim::{Bounds, Cost, Ended};
use lanlab_units::Instant;

#[path = "support/stores.rs"]
mod stores;

use stores::{BLOCK, MS, plan, world};

const FILE: u64 = 1;
const SIZE: u64 = 100 * BLOCK;

/// Use a store; gives how long that took, ms, and what the store has done.
fn used<F: Future<Output = ()> + 'static>(
    plan: StorePlan,
    using: impl FnOnce(Store) -> F,
) -> (f64, StoreFacts) {
    let world = world();
    let host = world.host(0);
    let store = Store::new(host.clone(), plan).unwrap();
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
    let cached = StorePlan { cache_blocks: 8, ..plan() };
    let (took_ms, facts) = used(cached, |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!((took_ms, facts.hits, facts.misses, facts.disk.accesses), (2.0, 4, 2, 2));
    // Without a cache each is read each time.
    let (took_ms, facts) = used(plan(), |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!((took_ms, facts.disk.accesses), (6.0, 6));
}

#[test]
fn clients_share_a_cache_or_have_their_own() {
    for (is_cache_of_client, accesses) in [(false, 1), (true, 2)] {
        let plan = StorePlan { cache_blocks: 8, is_cache_of_client, ..plan() };
        let (_, facts) = used(plan, |store| async move {
            store.read(1, FILE, SIZE, 0, 512).await;
            store.read(2, FILE, SIZE, 0, 512).await;
        });
        assert_eq!(facts.disk.accesses, accesses);
    }
}

#[test]
fn what_is_read_ahead_comes_while_the_client_does_something_else() {
    let ahead = StorePlan { cache_blocks: 32, read_ahead_blocks: 4, ..plan() };
    let (took_ms, facts) = used(ahead, |store| async move {
        for block in 0..20 {
            store.read(0, FILE, SIZE, block * BLOCK, BLOCK).await;
        }
    });
    assert!(facts.disk.accesses < 12, "{facts:?}");
    assert!(took_ms < 12.0, "{took_ms}");
    assert_eq!(facts.misses, 1);
}

#[test]
fn a_write_is_answered_from_the_disk_or_before() {
    let writing = |store: Store| async move {
        for block in 0..4 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
        }
    };
    let (took_ms, facts) = used(StorePlan { cache_blocks: 8, ..plan() }, writing);
    assert_eq!((took_ms, facts.disk.accesses, facts.dirty_blocks), (4.0, 4, 0));
    let behind = StorePlan { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (took_ms, facts) = used(behind, writing);
    assert_eq!((took_ms, facts.disk.accesses, facts.dirty_blocks), (0.0, 0, 4));
    // What does not wait longer than it may is on the disk, in one access.
    let (_, facts) = used(behind, |store| async move {
        writing(store.clone()).await;
        let host = store.host().clone();
        host.clock().sleep_until(Instant::from_nanos(150 * MS)).await;
    });
    assert_eq!((facts.disk.accesses, facts.disk.sectors, facts.dirty_blocks), (1, 32, 0));
}

#[test]
fn no_more_waits_than_may() {
    let behind = StorePlan { cache_blocks: 64, write_behind_blocks: 4, ..plan() };
    let (took_ms, facts) = used(behind, |store| async move {
        for block in 0..40 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
            assert!(store.facts().dirty_blocks <= 4);
        }
    });
    assert!(took_ms > 0.0 && facts.disk.accesses >= 4, "{took_ms} {facts:?}");
}

/// Eight writes to a block: seven are gathered, and the one that fills it waits for the disk.
#[test]
fn writes_are_gathered_until_their_block_is_full() {
    let behind = StorePlan { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    for (writes_full, expected_ms) in [(false, 0.0), (true, 3.0)] {
        let (took_ms, facts) = used(StorePlan { writes_full, ..behind }, |store| async move {
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
fn parts_of_blocks_wait_in_the_cache_and_whole_blocks_do_not() {
    let halves = |keeps_parts| {
        let plan = StorePlan { cache_blocks: 1, keeps_parts, ..plan() };
        let (_, facts) = used(plan, |store| async move {
            store.lay_out(&BTreeMap::from([(FILE, SIZE)]));
            for half in 0..4 {
                store.write(0, FILE, half * BLOCK / 2, BLOCK / 2).await;
            }
        });
        (facts.disk.accesses, facts.dirty_blocks)
    };
    // Two blocks are read, and the first is written when the second comes.
    assert_eq!(halves(true), (3, 1));
    // At once each half is written by itself: of whole sectors nothing is read before.
    assert_eq!(halves(false), (4, 0));
    let dos = StorePlan { cache_blocks: 8, keeps_parts: true, ..plan() };
    let (_, facts) = used(dos, |store| async move {
        store.lay_out(&BTreeMap::from([(FILE, SIZE)]));
        store.write(0, FILE, BLOCK / 2, 2 * BLOCK).await;
        // One whole, two in part, which are flushed.
        assert_eq!((store.facts().disk.accesses, store.facts().dirty_blocks), (3, 2));
        store.flush(0, FILE).await;
    });
    assert_eq!((facts.disk.accesses, facts.dirty_blocks), (5, 0));
}

#[test]
fn what_is_flushed_is_on_the_disk_and_what_is_removed_never_is() {
    let behind = StorePlan { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (_, facts) = used(behind, |store| async move {
        store.write(0, FILE, 0, 2 * BLOCK).await;
        store.flush(0, FILE).await;
        store.write(0, 2, 0, 2 * BLOCK).await;
        store.forget(2);
    });
    assert_eq!((facts.disk.sectors, facts.dirty_blocks), (16, 0));
}

/// Three blocks that are being written already when they are flushed: each takes 1 ms, and the flush as long.
#[test]
fn what_is_flushed_while_it_is_written_is_waited_for() {
    let behind =
        StorePlan { cache_blocks: 8, write_behind_blocks: 8, write_behind_ns: MS, ..plan() };
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
fn a_block_that_comes_while_others_are_written_does_not_wait_for_ever() {
    let behind = StorePlan {
        cache_blocks: 8,
        is_cache_of_client: true,
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
fn a_part_of_a_block_is_written_in_whole_sectors_and_their_rest_is_read_before() {
    let write = |is_there: bool| {
        let (_, facts) = used(plan(), move |store| async move {
            if is_there {
                store.lay_out(&[(FILE, SIZE)].into());
            }
            store.write(0, FILE, 1_000, 100).await;
            store.write(0, FILE, BLOCK - 1, 2).await;
        });
        [facts.disk.accesses, facts.disk.sectors]
    };
    // Of a new block there is nothing to read; that of the first write is there for the second.
    assert_eq!(write(false), [3 + 1, 2 + 2 + 1]);
    assert_eq!(write(true), [3 + 4, 4 + 4]);
}

/// 1, 2 and 4 ms of the processor to open, to close and for any other call; 3 sectors to find a name, 5 to change one.
#[test]
fn a_call_takes_its_own_time_and_the_sectors_of_its_names() {
    let ms = |ms: u64| Cost { each_ns: ms * MS, per_byte_ps: 0 };
    let plan = StorePlan {
        open: ms(1),
        close: ms(2),
        other: ms(4),
        name_sectors: 3,
        change_sectors: 5,
        ..plan()
    };
    let took = |(took_ms, facts): (f64, StoreFacts)| (took_ms, facts.disk.accesses);
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
fn a_part_of_a_block_is_written_where_its_block_is() {
    let disk = DiskPlan { turn_ns: 10 * MS, seek_each_ns: MS, ..plan().disk };
    let (_, facts) = used(StorePlan { disk, ..plan() }, |store| async move {
        store.lay_out(&[(FILE, SIZE)].into());
        for block in [0, 99, 99, 0] {
            store.write(0, FILE, block * BLOCK + 512, 512).await;
        }
    });
    assert_eq!((facts.disk.accesses, facts.disk.seek_ns), (4, 2 * MS));
}

/// 10 blocks of 750 bytes, one after the other in a file of 15 sectors, by a system that moves one sector at a time
/// past buffers too few for the file: each sector is read once in a round, as what is left of it stays for the next
/// block, and takes a turn of the disk and the places between two sectors, as the next has passed by then.
#[test]
fn sector_by_sector_a_read_takes_a_turn_and_the_interleave_for_each() {
    let turn_ns = 17 * MS;
    let disk = DiskPlan {
        sectors_per_track: 17,
        interleave: 3,
        turn_ns,
        overhead_ns: 5 * MS / 2,
        ..plan().disk
    };
    let dos = StorePlan { block_bytes: 512, cache_blocks: 10, disk, ..plan() };
    let (took_ms, facts) = used(dos, |store| async move {
        store.lay_out(&[(FILE, 7_500)].into());
        for block in 0..100 {
            store.read(0, FILE, 7_500, block % 10 * 750, 750).await;
        }
    });
    assert_eq!(facts.misses, 150);
    // Of 15 sectors 14 come after the one before; back to the first it is 9 places (17 - 14 * 3 % 17 + 3 - 3).
    let [least_ms, most_ms] = [140.0 * 20.0, 150.0 * 20.0];
    assert!((least_ms..=most_ms).contains(&took_ms), "{took_ms}");
}

/// The same file written: each sector that a block ends or begins in is written with both blocks, and what is cut at
/// its end is read before.
#[test]
fn sector_by_sector_a_write_reads_what_it_cuts() {
    let dos = StorePlan { block_bytes: 512, cache_blocks: 10, ..plan() };
    let (_, facts) = used(dos, |store| async move {
        store.lay_out(&[(FILE, 7_500)].into());
        for block in 0..100 {
            store.write(0, FILE, block % 10 * 750, 750).await;
        }
    });
    // 15 sectors, 9 of them twice, in each of 10 rounds; of those each is read for the first of its two blocks, and
    // so is the last one, of which the file's end is a part.
    assert_eq!((facts.disk.accesses, facts.disk.sectors), (10 * (24 + 10), 10 * (24 + 10)));
}

/// Two clients, each call 1 ms of the processor and 1 ms of the disk.
#[test]
fn a_server_that_overlaps_works_for_one_while_the_disk_does_for_the_other() {
    for (overlaps, expected_ms) in [(false, 8), (true, 5)] {
        let read = Cost { each_ns: MS, per_byte_ps: 0 };
        let plan = StorePlan { overlaps, read, ..plan() };
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
