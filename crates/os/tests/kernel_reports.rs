//! What the kernel reports with the bytes: drops, time stamps, readiness; on loopback.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use lanlab_os::{
    DatagramOptions, DatagramSocket, Interest, Readiness, ReceiveBatch, bind_to_processor,
    monotonic, realtime_ns, wait_writable,
};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn pair(receive_buffer_bytes: Option<usize>) -> (DatagramSocket, DatagramSocket) {
    let options = DatagramOptions { receive_buffer_bytes, ..DatagramOptions::default() };
    let receiver = DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), &options).unwrap();
    let sender =
        DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), &DatagramOptions::default()).unwrap();
    sender.plain().connect(receiver.plain().local_addr().unwrap()).unwrap();
    receiver.plain().connect(sender.plain().local_addr().unwrap()).unwrap();
    receiver.set_receive_timeout(Some(PATIENCE)).unwrap();
    (sender, receiver)
}

/// Wait until all that this thread has sent is where it goes: one datagram after the other is taken there.
fn all_has_come() {
    let (sender, receiver) = pair(None);
    sender.send_one(b"last", true).unwrap();
    receiver.receive_batch(&mut ReceiveBatch::new(1, 64), true).unwrap();
}

#[test]
fn buffer_drops_are_counted_exactly() {
    for buffers in [1, 16] {
        let (sender, receiver) = pair(Some(4096));
        receiver.enable_drop_counts().unwrap();
        for number in 0..100 {
            sender.send_one(&[number; 200], true).unwrap();
        }
        all_has_come();
        let mut batch = ReceiveBatch::new(buffers, 256);
        let mut arrived = 0;
        while receiver.receive_batch(&mut batch, false).is_ok() {
            for received in batch.received() {
                assert_eq!(received.drops, 0, "those that fit came before the first drop");
                arrived += 1;
            }
        }
        assert!((1..100).contains(&arrived));
        assert_eq!(receiver.dropped().unwrap(), 100 - arrived);
        // The next one to be taken in says how many were dropped before it.
        sender.send_one(&[100; 200], true).unwrap();
        receiver.receive_batch(&mut batch, true).unwrap();
        let last = batch.received().next().unwrap();
        assert_eq!((last.bytes[0], last.drops), (100, 100 - arrived));
    }
}

#[test]
fn kernel_timestamps_lie_between_sending_and_receiving() {
    let (sender, receiver) = pair(None);
    sender.enable_kernel_timestamps(true).unwrap();
    receiver.enable_kernel_timestamps(false).unwrap();
    let mut batch = ReceiveBatch::new(4, 256);
    let mut exchange = || {
        sender.send_one(&[7; 64], true).unwrap();
        receiver.receive_batch(&mut batch, true).unwrap();
        batch.received().next().unwrap().kernel_realtime_ns
    };
    // The kernel begins to stamp what arrives a moment after it was asked to.
    let mut next = 0;
    for _ in 0..10_000 {
        let is_stamped = exchange().is_some();
        assert_eq!(sender.sent_stamp().unwrap().unwrap().0, next);
        next += 1;
        if is_stamped {
            break;
        }
    }
    for number in next..next + 5 {
        let before_ns = realtime_ns();
        let arrived_ns = exchange().unwrap();
        let after_ns = realtime_ns();
        let (stamp_number, sent_ns) = sender.sent_stamp().unwrap().unwrap();
        assert_eq!(stamp_number, number);
        assert!(before_ns <= sent_ns && sent_ns <= arrived_ns && arrived_ns <= after_ns);
    }
    assert_eq!(sender.sent_stamp().unwrap(), None);
}

#[test]
fn timestamps_are_absent_unless_enabled() {
    let (sender, receiver) = pair(None);
    sender.send_one(b"hello", true).unwrap();
    let mut batch = ReceiveBatch::new(1, 64);
    receiver.receive_batch(&mut batch, true).unwrap();
    let only = batch.received().next().unwrap();
    assert_eq!((only.bytes, only.kernel_realtime_ns), (&b"hello"[..], None));
    assert_eq!(sender.sent_stamp().unwrap(), None);
}

#[test]
fn nonblocking_receives_return_at_once() {
    let (_sender, receiver) = pair(None);
    for buffers in [1, 8] {
        let before = monotonic();
        let error = receiver.receive_batch(&mut ReceiveBatch::new(buffers, 64), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(monotonic().nanos_since(before) < PATIENCE.as_nanos() as u64);
    }
}

#[test]
fn only_readable_sockets_are_ready() {
    let pairs: Vec<_> = (0..5).map(|_| pair(None)).collect();
    let mut readiness = Readiness::new(pairs.len()).unwrap();
    for (key, (_, receiver)) in pairs.iter().enumerate() {
        readiness.watch(receiver.plain(), key, Interest::Read).unwrap();
    }
    assert_eq!(readiness.wait(Duration::from_millis(1)).unwrap().count(), 0);
    for key in [1, 3] {
        pairs[key].0.send_one(b"x", true).unwrap();
    }
    // The second may be on its way.
    let mut ready = BTreeSet::new();
    while ready.len() < 2 {
        let more: Vec<_> = readiness.wait(PATIENCE).unwrap().collect();
        assert!(!more.is_empty());
        ready.extend(more);
    }
    assert_eq!(ready, BTreeSet::from([1, 3]));
    readiness.forget(pairs[1].1.plain()).unwrap();
    assert_eq!(readiness.wait(PATIENCE).unwrap().collect::<Vec<_>>(), [3]);
}

#[test]
fn writability_is_reported_once_per_request() {
    let (sender, _receiver) = pair(None);
    wait_writable(sender.plain(), PATIENCE).unwrap();
    let mut readiness = Readiness::new(1).unwrap();
    for _ in 0..2 {
        readiness.watch(sender.plain(), 4, Interest::Write).unwrap();
        assert_eq!(readiness.wait(PATIENCE).unwrap().collect::<Vec<_>>(), [4]);
        assert_eq!(readiness.wait(Duration::from_millis(1)).unwrap().count(), 0);
    }
}

#[test]
fn missing_processors_are_refused() {
    for processor in [1023, 100_000] {
        assert!(bind_to_processor(processor).is_err());
    }
    // Which ones this process may use is the system's choice; there is at least one.
    let bound = || (0..1023).any(|processor| bind_to_processor(processor).is_ok());
    assert!(std::thread::spawn(bound).join().unwrap());
}
