//! Copies in virtual time: the workers of the product against a server that fails in every way.

#[path = "support/stations_spec.rs"]
mod example;
mod support;

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_files::{Result, ServicePath};
use lanlab_messages::{
    ClientSide, CopiedFiles, CopySpec, CopySync, CopyVerify, Direction, Failure,
};
use lanlab_units::{Clock, Instant};
use lanlab_workloads::Progress;
use lanlab_workloads::copy::{self, CopyEndpoints, Simulated, simulate};
use lanlab_workloads::dataset::{Content, file_name};
use lanlab_workloads::virtual_time::VirtualTime;
use support::{Fails, Server, ServerSession, Service, TIMEOUT_NS, service_ns};

const SECOND_NS: u64 = 1_000_000_000;
/// As the model server has it.
const BLOCK_BYTES: usize = 4096;

fn spec(direction: Direction) -> CopySpec {
    CopySpec {
        service: example::spec().service,
        working_name: "lanlab-test".to_owned(),
        token: "0".repeat(32),
        direction,
        files: CopiedFiles::Tree("/unused".to_owned()),
        client: ClientSide::Memory,
        parallel_files: 1,
        block_bytes: None,
        depth: None,
        sync: CopySync::None,
        verify: CopyVerify::Content,
        retries: 3,
        longest_ns: None,
        files_digest: None,
    }
}

struct Host {
    server: Server,
    sizes: Vec<usize>,
    names: Vec<ServicePath>,
    /// What was received of each file, whole.
    received: std::rc::Rc<RefCell<Vec<Vec<u8>>>>,
}

fn content(number: usize, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    Content::new(1, number as u64, 0.0).fill(0, &mut content);
    content
}

impl Host {
    fn new(server: &Server, sizes: &[usize]) -> Self {
        let name = |number| ServicePath::new(file_name(number as u64)).unwrap();
        Self {
            server: server.clone(),
            sizes: sizes.to_vec(),
            names: (0..sizes.len()).map(name).collect(),
            received: std::rc::Rc::new(RefCell::new(vec![Vec::new(); sizes.len()])),
        }
    }
}

struct Made(Vec<u8>);

impl copy::Source for Made {
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> std::result::Result<(), Failure> {
        let from = offset as usize;
        buffer.copy_from_slice(&self.0[from..from + buffer.len()]);
        Ok(())
    }
}

struct Kept {
    number: usize,
    bytes: RefCell<Vec<u8>>,
    to: std::rc::Rc<RefCell<Vec<Vec<u8>>>>,
}

impl copy::Sink for Kept {
    fn take(&self, offset: u64, block: &[u8]) -> std::result::Result<(), Failure> {
        let from = offset as usize;
        self.bytes.borrow_mut()[from..from + block.len()].copy_from_slice(block);
        Ok(())
    }

    fn close(self, _sync: CopySync) -> std::result::Result<Option<Vec<u64>>, Failure> {
        self.to.borrow_mut()[self.number] = self.bytes.into_inner();
        Ok(None)
    }
}

impl CopyEndpoints for Host {
    type Session = ServerSession;
    type Source = Made;
    type Sink = Kept;

    async fn connect(&self) -> Result<ServerSession> {
        self.server.connect().await
    }

    fn files(&self) -> (usize, u64) {
        (self.sizes.len(), self.sizes.iter().sum::<usize>() as u64)
    }

    fn bytes(&self, number: usize) -> u64 {
        self.sizes[number] as u64
    }

    fn name(&self, number: usize) -> &ServicePath {
        &self.names[number]
    }

    fn source(&self, number: usize) -> std::result::Result<Made, Failure> {
        Ok(Made(content(number, self.sizes[number])))
    }

    fn sink(
        &self,
        number: usize,
        _block_bytes: u32,
        _is_again: bool,
    ) -> std::result::Result<Kept, Failure> {
        let bytes = RefCell::new(vec![0; self.sizes[number]]);
        Ok(Kept { number, bytes, to: std::rc::Rc::clone(&self.received) })
    }
}

struct Trial {
    time: VirtualTime,
    server: Server,
    simulated: Simulated<Host>,
    /// Files and bytes counted.
    counted: (u64, u64),
}

fn trial(spec: &CopySpec, sizes: &[usize], fails: Fails) -> Trial {
    seeded_trial(spec, sizes, fails, Service::Fixed, 1, SECOND_NS)
}

fn seeded_trial(
    spec: &CopySpec,
    sizes: &[usize],
    fails: Fails,
    service: Service,
    seed: u64,
    start_ns: u64,
) -> Trial {
    let time = VirtualTime::new();
    let server = Server::new(&time, service, fails, seed);
    run(&time, server, spec, sizes, start_ns)
}

fn run(
    time: &VirtualTime,
    server: Server,
    spec: &CopySpec,
    sizes: &[usize],
    start_ns: u64,
) -> Trial {
    if spec.direction == Direction::Download {
        for (number, bytes) in sizes.iter().enumerate() {
            let path = format!("lanlab-test/files/{}", file_name(number as u64));
            server.put(&path, content(number, *bytes));
        }
    }
    let (host, progress) = (Host::new(&server, sizes), Rc::<Progress>::default());
    let work = simulate(time.clone(), spec.clone(), host, Rc::clone(&progress), start_ns);
    let simulated = time.run(work).expect("no deadlock").expect("connections");
    Trial { time: time.clone(), server, simulated, counted: progress.counted() }
}

/// What a file takes at the server: open, each block, close.
fn file_ns(bytes: usize) -> u64 {
    let blocks = bytes.div_ceil(BLOCK_BYTES) as u64;
    2 * service_ns(0) + blocks * service_ns(0) + 1000 * bytes as u64
}

fn assert_arrived(trial: &Trial, sizes: &[usize]) {
    for (number, bytes) in sizes.iter().enumerate() {
        let path = format!("lanlab-test/files/{}", file_name(number as u64));
        assert_eq!(trial.server.file(&path), Some(content(number, *bytes)), "{path}");
    }
}

const SIZES: [usize; 5] = [100_000, 0, 1, 4096, 50_001];

#[test]
fn uploads_take_the_time_of_their_calls() {
    let trial = trial(&spec(Direction::Upload), &SIZES, Fails::Never);
    let copied = &trial.simulated.totals.copied;
    assert_eq!(trial.simulated.totals.failure, None);
    assert_eq!(copied.elapsed_ns, SIZES.iter().map(|bytes| file_ns(*bytes)).sum::<u64>());
    assert_eq!((copied.files, copied.copied_files), (5, 5));
    assert_eq!((copied.copied_bytes, copied.retries, copied.start_skew_ns), (154_098, 0, 0));
    assert_eq!(trial.counted, (5, 154_098));
    assert_eq!((copied.operations.open.samples, copied.operations.close.samples), (5, 5));
    assert_eq!(copied.operations.write.samples, 25 + 1 + 1 + 13);
    assert_arrived(&trial, &SIZES);
    // Opened in 2 ms; then the first block, if there is one, in 2 ms and 1 µs a byte.
    let first = &copied.first_byte;
    assert_eq!((first.min_ns, first.max_ns, first.mean_ns), (4_000_000, 8_096_000, 6_457_800));
    let whole = &copied.file_time;
    assert_eq!((whole.min_ns, whole.max_ns), (4_000_000, file_ns(100_000).cast_signed()));
    assert_eq!((copied.connect_ns.as_slice(), copied.bytes), ([2_000_000].as_slice(), 154_098));
    assert_eq!(copied.operations.sync.samples, 0);
}

#[test]
fn each_file_can_be_synced() {
    let spec = CopySpec { sync: CopySync::File, ..spec(Direction::Upload) };
    let copied = trial(&spec, &SIZES, Fails::Never).simulated.totals.copied;
    let all_ns: u64 = SIZES.iter().map(|bytes| file_ns(*bytes) + 2_000_000).sum();
    assert_eq!((copied.elapsed_ns, copied.operations.sync.samples), (all_ns, 5));
}

#[test]
fn a_short_file_is_named_with_its_length() {
    // One after another, or both blocks at once: the second finds nothing.
    for (depth, most) in [(1, 3000), (4, 4096)] {
        let spec = CopySpec { retries: 0, depth: Some(depth), ..spec(Direction::Download) };
        let time = VirtualTime::new();
        let server = Server::new(&time, Service::Fixed, Fails::Never, 1);
        server.put("lanlab-test/files/f000000.dat", content(0, 3000));
        let work = simulate(time.clone(), spec, Host::new(&server, &[5000]), Rc::default(), 0);
        let totals = time.run(work).expect("no deadlock").expect("connections").totals;
        let failure = totals.failure.expect("a failure");
        assert_eq!(failure.code, "service.length");
        let what = "read `lanlab-test/files/f000000.dat`";
        assert_eq!(failure.message, format!("{what}: it has at most {most} of its 5000 octets"));
        assert_eq!(totals.copied.faults["length"], 1);
    }
}

#[test]
fn split_files_arrive_whole_and_excess_data_is_an_error() {
    let spec = CopySpec { retries: 0, depth: Some(1), ..spec(Direction::Download) };
    let parts = trial(&spec, &[5001], Fails::AnswersTooMuchFrom(u64::MAX)).simulated;
    assert_eq!(parts.totals.failure, None);
    assert!(parts.endpoints.received.borrow()[0] == content(0, 5001));
    // 4096 bytes in thirteen parts, 905 in ten.
    assert_eq!(parts.totals.copied.operations.read.samples, 13 + 10);
    // The open is call 1; the second part of the first block is one byte too long.
    let failure = trial(&spec, &[5001], Fails::AnswersTooMuchFrom(3)).simulated.totals.failure;
    let failure = failure.expect("a failure");
    let words = "read `lanlab-test/files/f000000.dat`: more came at 2048 than was asked for";
    assert_eq!((failure.code, failure.message.as_str()), ("service.protocol", words));
}

#[test]
fn retry_pauses_grow_to_five_seconds() {
    let spec = CopySpec { retries: 8, ..spec(Direction::Upload) };
    let trial = trial(&spec, &SIZES, Fails::SilentFrom(1));
    let totals = &trial.simulated.totals;
    let message = &totals.failure.as_ref().expect("a failure").message;
    assert_eq!(message, "no answer within 1 s (given up after 9 attempts)");
    assert_eq!((totals.copied.retries, totals.copied.faults["timed_out"]), (8, 9));
    // Nine time-outs, eight new connections of 2 ms, and pauses of 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5 and
    // 5 s; before that a connection and a second to the start.
    assert_eq!(trial.time.now().as_nanos(), 1_002_000_000 + 9_000_000_000 + 16_316_000_000);
    let once = CopySpec { retries: 0, ..spec };
    let totals = self::trial(&once, &SIZES, Fails::SilentFrom(1)).simulated.totals;
    assert_eq!(totals.failure.expect("a failure").message, "no answer within 1 s");
}

#[test]
fn downloads_are_intact_at_any_depth() {
    for depth in [1, 4, 64] {
        let spec = CopySpec { depth: Some(depth), ..spec(Direction::Download) };
        let trial = trial(&spec, &SIZES, Fails::Never);
        assert_eq!(trial.simulated.totals.failure, None);
        for (number, received) in trial.simulated.endpoints.received.borrow().iter().enumerate() {
            assert!(*received == content(number, SIZES[number]), "{number} {depth}");
        }
        // The server is never idle, so that depth gains nothing.
        let all_ns = SIZES.iter().map(|bytes| file_ns(*bytes)).sum::<u64>();
        assert_eq!(trial.simulated.totals.copied.elapsed_ns, all_ns, "{depth}");
    }
}

#[test]
fn workers_share_the_queue_and_every_file_is_copied_once() {
    let sizes: Vec<usize> = (0..40).map(|number| 1000 * number).collect();
    let spec = CopySpec { parallel_files: 7, ..spec(Direction::Upload) };
    let trial = trial(&spec, &sizes, Fails::Never);
    let totals = &trial.simulated.totals;
    assert_eq!((totals.copied.copied_files, totals.copied.connect_ns.len()), (40, 7));
    let mut numbers: Vec<_> = totals.meters.files.iter().map(|file| file.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    assert_arrived(&trial, &sizes);
}

#[test]
fn files_are_retried_after_a_reset() {
    let sizes = [20_000; 20];
    let spec = CopySpec { parallel_files: 2, ..spec(Direction::Upload) };
    let trial = trial(&spec, &sizes, Fails::ResetsEvery(23));
    let copied = &trial.simulated.totals.copied;
    assert_eq!(trial.simulated.totals.failure, None);
    assert!(copied.retries >= 2, "{}", copied.retries);
    assert_eq!(copied.faults["reset"], copied.retries);
    assert_arrived(&trial, &sizes);
}

#[test]
fn a_silent_server_times_out_after_the_retries() {
    let spec = CopySpec { retries: 2, ..spec(Direction::Upload) };
    let trial = trial(&spec, &SIZES, Fails::SilentFrom(10));
    let failure = trial.simulated.totals.failure.as_ref().expect("a failure");
    assert_eq!(failure.code, "service.timed_out");
    assert!(failure.message.contains("given up after 3 attempts"), "{}", failure.message);
    assert_eq!(trial.simulated.totals.copied.faults["timed_out"], 3);
    // Three time-outs with pauses of 100 and 200 ms, and less than a second of all else.
    let elapsed_ns = trial.time.now().as_nanos() - SECOND_NS;
    assert!((3 * TIMEOUT_NS + 300_000_000..5 * TIMEOUT_NS).contains(&elapsed_ns), "{elapsed_ns}");
}

#[test]
fn one_worker_that_gives_up_stops_the_others() {
    let spec = CopySpec { retries: 0, parallel_files: 4, ..spec(Direction::Upload) };
    let sizes = [1_000_000; 8];
    let trial = trial(&spec, &sizes, Fails::DeadFrom(100));
    let totals = &trial.simulated.totals;
    assert_eq!(totals.failure.as_ref().expect("a failure").code, "service.reset");
    assert_eq!(totals.copied.copied_files, 0);
    assert!(trial.time.now() < Instant::from_nanos(3 * SECOND_NS));
}

#[test]
fn an_overlong_copy_ends_and_reports_its_progress() {
    let spec = CopySpec { longest_ns: Some(3 * SECOND_NS), ..spec(Direction::Upload) };
    let trial = trial(&spec, &[100_000; 100], Fails::Never);
    let totals = &trial.simulated.totals;
    let failure = totals.failure.as_ref().expect("a failure");
    assert_eq!(failure.code, "copy.too_long");
    let words = "`f000013.dat` was under way, 13 of 100 files (10000000 bytes) were done, ";
    assert!(failure.message.contains(words), "{}", failure.message);
    assert!(failure.message.ends_with("not done within 3 s"), "{}", failure.message);
    assert_eq!(totals.copied.copied_files, 13);
    // Within a look of its time.
    let over_ns = trial.time.now().as_nanos() - 3 * SECOND_NS;
    assert!(over_ns <= 20_000_000, "{over_ns}");
}

#[test]
fn a_late_start_changes_no_file_time() {
    let times = |start_ns| {
        let spec = CopySpec { parallel_files: 3, ..spec(Direction::Upload) };
        let trial = seeded_trial(&spec, &SIZES, Fails::Never, Service::Exponential, 5, start_ns);
        let start = trial.simulated.totals.meters.files.iter().map(|file| file.opened).min();
        format!("{:?}", trial.simulated.totals.meters.file_lines(start.unwrap()).next())
    };
    assert_eq!(times(SECOND_NS), times(3_600 * SECOND_NS));
}

#[test]
fn stream_services_move_files_in_order() {
    let spec = spec(Direction::Download);
    let time = VirtualTime::new();
    let server = Server::with_order(&time, Service::Fixed, Fails::Never, 1, true);
    let trial = run(&time, server, &spec, &SIZES, 0);
    assert_eq!(trial.simulated.totals.failure, None);
    // Whether a file has ended is asked by a call of one byte.
    let all_ns: u64 = SIZES.iter().map(|bytes| file_ns(*bytes) + service_ns(1)).sum();
    assert_eq!(trial.simulated.totals.copied.elapsed_ns, all_ns);
    // What a service of streams would do with a file that has grown: one byte more is found.
    let grown = || {
        let time = VirtualTime::new();
        let server = Server::with_order(&time, Service::Fixed, Fails::Never, 1, true);
        server.put("lanlab-test/files/f000000.dat", content(0, 5001));
        let spec = CopySpec { retries: 0, ..spec.clone() };
        let work = simulate(time.clone(), spec, Host::new(&server, &[5000]), Rc::default(), 0);
        time.run(work).expect("no deadlock").expect("connections")
    };
    let failure = grown().totals.failure.expect("a failure");
    assert_eq!(failure.code, "service.length");
}
