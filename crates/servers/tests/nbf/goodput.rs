//! How much of the time of a copy its frames take, exactly: the product's client and server on a cable of 10 Mbit/s in
//! virtual time, where neither they nor the files take any time.

use lanlab_clients::{AnySession, connect};
use lanlab_files::{Access, IpxSegment, ServiceKind::Smb1, Session};
use lanlab_servers::{Offer, StationOffer, serve};
use lanlab_stack::node::CarrierKind;
use lanlab_units::Instant;
use tempfile::TempDir;

use super::cable::place;
use super::virtual_cable::{GAP_NS, Transmission, VirtualCable};
use super::{NAME, over_nbf};
use crate::multiplexed::{content, offer, path, target};

struct Shares {
    /// Frames of the client, one behind the other, of the time.
    one_direction: f64,
    /// Time in which a frame was on the wire in either direction.
    exchange: f64,
}

fn shares(frames: &[Transmission], from: Instant, until: Instant) -> Shares {
    let frames = frames.iter().filter(|frame| frame.from >= from && frame.from < until);
    let (mut one_direction_ns, mut exchange_ns, mut busy_until) = (0, 0, from);
    let mut sorted: Vec<_> = frames.collect();
    sorted.sort_by_key(|frame| frame.from);
    for frame in sorted {
        let end = frame.from.plus_nanos(frame.took_ns + GAP_NS);
        if frame.end == 0 {
            one_direction_ns += end.nanos_since(frame.from);
        }
        exchange_ns += end.nanos_since(busy_until.max(frame.from));
        busy_until = busy_until.max(end);
    }
    let elapsed_ns = until.nanos_since(from) as f64;
    let share = |ns: u64| ns as f64 / elapsed_ns;
    Shares { one_direction: share(one_direction_ns), exchange: share(exchange_ns) }
}

async fn write(session: &AnySession, number: usize, size: usize) {
    let (name, data) = (path(&format!("f{number:07}.dat")), content(size, number as u64));
    let size_bytes = size as u64;
    let file = session.open(&name, Access::Create { size_bytes }).await.unwrap();
    let block = session.capabilities().block_bytes as usize;
    for (at, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (at * block) as u64, part).await.unwrap();
    }
    session.close(file).await.unwrap();
}

fn written(name: &'static str, sizes: &[usize]) -> Shares {
    let cable = VirtualCable::new(name, 0.0);
    let (times, sizes) = (std::cell::Cell::new([Instant::ZERO; 2]), sizes.to_vec());
    cable.run(async {
        let root = TempDir::new().unwrap();
        let station = StationOffer {
            carrier: CarrierKind::Nbf,
            place: place(&cable.interface(1)),
            ipx: IpxSegment::default(),
            name: NAME.to_owned(),
        };
        let offer = Offer { station: Some(station), ..offer(Smb1, root.path()) };
        let serving = serve(&offer).await.unwrap();
        let session = connect(&over_nbf(target(Smb1, 0), &cable.interface(0))).await.unwrap();
        // The first message of several parts asks for RECEIVE CONTINUE.
        write(&session, 0, 100_000).await;
        let from = cable.now();
        for (number, size) in sizes.into_iter().enumerate() {
            write(&session, number + 1, size).await;
        }
        times.set([from, cable.now()]);
        session.end().await.unwrap();
        serving.end().await;
    });
    let [from, until] = times.get();
    let shares = shares(&cable.transmissions(), from, until);
    println!("{name}: one direction {:.4}, exchange {:.4}", shares.one_direction, shares.exchange);
    shares
}

/// A large file takes the time of the client's frames: the reply to a write of 60 KiB is one short frame.
#[test]
fn writing_a_large_file_takes_as_long_as_its_frames() {
    let shares = written("large", &[2_000_000]);
    assert!(shares.one_direction > 0.98, "{}", shares.one_direction);
    assert!(shares.exchange > 0.995, "{}", shares.exchange);
}

/// Files of 24 kB on average, as in a set of many files. What the client's frames lack are replies, which the
/// redirector waits for.
#[test]
fn writing_small_files_takes_as_long_as_their_requests_and_replies() {
    let sizes: Vec<usize> = (0..40).map(|number| 1_000 + number * 1_180).collect();
    let shares = written("small", &sizes);
    assert!(shares.one_direction > 0.90, "{}", shares.one_direction);
    assert!(shares.exchange > 0.99, "{}", shares.exchange);
}
