//! The dialogue with the driver: JSON lines in, replies out, a thread per measurement.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use parking_lot::Mutex;

use crate::cost::Cost;
use crate::messages::{
    Armed, Cancel, Cancelled, Command, Failure, Hello, MAX_LINE_BYTES, Outcome, Pong, Reply,
    Request, SCHEMA_VERSION,
};
use crate::output::Output;
use crate::running::Running;
use crate::task::Task;
use crate::workloads::{
    copy, dataset, echo, metadata, path_mtu, serve, simulate, stations, stream,
};
use crate::{host, listen, medium, resolve, storage, virtual_hosts};

/// Maximum concurrent measurements, so that a faulty driver cannot exhaust the host.
const MAX_RUNNING: usize = 16;

const MAX_MESSAGE_CHARACTERS: usize = 4096;

const END_NS: u64 = 2_000_000_000;
const END_LOOK: Duration = Duration::from_millis(2);

pub type Measurements = Arc<Mutex<HashMap<u64, (Arc<Running>, Cost)>>>;

pub fn serve(mut input: impl BufRead, output: &Output) {
    output.send(&Reply::Hello(Hello {
        engine_version: env!("CARGO_PKG_VERSION").into(),
        schema_version: SCHEMA_VERSION,
        pid: std::process::id(),
        capabilities: host::CAPABILITIES,
        progress_interval_ns: output.progress_interval_ns,
        max_line_bytes: MAX_LINE_BYTES as u64,
    }));
    let measurements = Measurements::default();
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line) {
            Ok(Line::End) | Err(_) => return end(&measurements),
            Ok(Line::Whole) => handle(&line, &measurements, output),
            Ok(Line::TooLong) => output.error(
                None,
                Failure::new(
                    "request.too_long",
                    format!("a line of more than {MAX_LINE_BYTES} bytes; it was skipped"),
                ),
                None,
            ),
        }
    }
}

/// The driver is gone: stop measurements, and remove everything they made on this host.
fn end(measurements: &Measurements) {
    let open = || measurements.lock();
    for (running, _) in open().values() {
        running.cancel();
    }
    let until = os::monotonic().plus_nanos(END_NS);
    while !open().is_empty() && os::monotonic() < until {
        // Finished requests leave the map without a signal, so poll it.
        thread::sleep(END_LOOK);
    }
    storage::remove_all();
}

pub enum Line {
    Whole,
    TooLong,
    End,
}

/// Read up to the next line feed into `line`; a line that is too long is skipped to its end.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Line> {
    line.clear();
    let limit = MAX_LINE_BYTES as u64;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') || line.len() < MAX_LINE_BYTES {
        return Ok(Line::Whole);
    }
    loop {
        line.clear();
        if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
            return Ok(Line::TooLong);
        }
        if line.last() == Some(&b'\n') {
            return Ok(Line::TooLong);
        }
    }
}

fn handle(line: &[u8], measurements: &Measurements, output: &Output) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let (id, wanted) = match understand(line) {
        Ok(understood) => understood,
        Err((id, failure)) => return output.error(id, failure, None),
    };
    let answered = match wanted {
        Wanted::Answer(answer) => answer(measurements).map(|outcome| output.result(id, outcome)),
        Wanted::Task(task) => measure(id, task, measurements, output),
    };
    if let Err(failure) = answered {
        output.error(Some(id), failure, None);
    }
}

type Answer = Box<dyn FnOnce(&Measurements) -> Result<Outcome, Failure>>;

pub enum Wanted {
    Answer(Answer),
    Task(Task),
}

/// Parse and check a request line. An error includes the id, if readable.
pub fn understand(line: &[u8]) -> Result<(u64, Wanted), (Option<u64>, Failure)> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: u64,
    }
    let command: Command = serde_json::from_slice(line).map_err(|error| {
        let id = serde_json::from_slice::<Named>(line).ok().map(|named| named.id);
        // The error may quote the input, so limit its length.
        let message: String = error.to_string().chars().take(MAX_MESSAGE_CHARACTERS).collect();
        let failure = Failure::new("request.malformed", message)
            .hint("`lanlab-engine schema` prints what is understood");
        (id, failure)
    })?;
    let Command { id, request } = command;
    let refused = |failure| (Some(id), failure);
    let wanted = check(request).map_err(refused)?;
    if let Wanted::Task(task) = &wanted {
        task.cost.check_beside(Cost::default()).map_err(refused)?;
    }
    Ok((id, wanted))
}

/// Check everything in a request that needs no socket or file.
fn check(request: Request) -> Result<Wanted, Failure> {
    let task = match request {
        Request::Describe {} => {
            return Ok(at_once(|_| Ok(Outcome::Description(Box::new(host::describe())))));
        }
        Request::Ping {} => return Ok(at_once(|_| Ok(Outcome::Pong(pong())))),
        Request::Arm(arm) => {
            return Ok(at_once(move |measurements| {
                let running = find(measurements, arm.target)?;
                let margin_ns = running.arm(
                    Instant::from_nanos(arm.at_ns),
                    os::monotonic(),
                    arm.round_trip_ns,
                )?;
                Ok(Outcome::Armed(Armed { margin_ns }))
            }));
        }
        Request::Cancel(Cancel { target }) => {
            return Ok(at_once(move |measurements| {
                find(measurements, target)?.cancel();
                Ok(Outcome::Cancelled(Cancelled { target }))
            }));
        }
        Request::ReadMedium(read) => {
            return Ok(at_once(move |measurements| find(measurements, read.target)?.ask()));
        }
        Request::CarryFrames(request) => medium::carry_frames(request),
        Request::SetUpHosts(request) => virtual_hosts::set_up(request),
        Request::ReadHosts(request) => virtual_hosts::read(request),
        Request::StreamReceive(request) => stream::receive(request),
        Request::StreamSend(request) => stream::send(request),
        Request::PeerStream(request) => stream::with_peer(*request),
        Request::PeerEcho(request) => echo::with_peer(*request),
        Request::PeerServe(request) => stream::serve_peers(request),
        Request::EchoRespond(request) => echo::respond(request),
        Request::EchoRequest(request) => echo::request(request),
        Request::PathMtuAnswer(request) => path_mtu::answer(request),
        Request::PathMtuProbe(request) => path_mtu::probe(request),
        Request::Simulate(request) => simulate::run(*request),
        Request::Listen(request) => listen::listen(request),
        Request::Dataset(request) => dataset::make(request),
        Request::TrialDirectory(request) => Ok(storage::hold_directory(&request)),
        Request::MeasureRoom(request) => storage::measure_room(&request),
        Request::ReadyMemory(request) => storage::ready_memory(&request),
        Request::Resolve(request) => resolve::resolve(request),
        Request::DropCaches(request) => dataset::drop_caches(&request),
        Request::Serve(request) => serve::serve(request),
        Request::CopyPrepare { spec } => copy::task(*spec, copy::prepare),
        Request::Copy { spec } => copy::task(*spec, copy::copy),
        Request::CopyCheck { spec } => copy::task(*spec, copy::check_upload),
        Request::CopyEmpty { spec } => copy::task(*spec, copy::empty),
        Request::StationsPrepare { spec } => stations::task(*spec, stations::prepare),
        Request::Stations { spec } => stations::task(*spec, stations::work),
        Request::StationsEmpty { spec } => stations::task(*spec, stations::empty),
        Request::MetadataPrepare { spec } => metadata::task(*spec, metadata::prepare),
        Request::Metadata { spec } => metadata::task(*spec, metadata::measure),
        Request::MetadataEmpty { spec } => metadata::task(*spec, metadata::empty),
        Request::ListPlaces(request) => metadata::list_places(*request),
    };
    task.map(Wanted::Task)
}

fn at_once(answer: impl FnOnce(&Measurements) -> Result<Outcome, Failure> + 'static) -> Wanted {
    Wanted::Answer(Box::new(answer))
}

fn pong() -> Pong {
    Pong {
        monotonic_ns: os::monotonic().as_nanos(),
        realtime_ns: os::realtime_ns(),
        engine_cpu_ns: Some(os::process_cpu_ns()),
    }
}

fn find(measurements: &Measurements, target: u64) -> Result<Arc<Running>, Failure> {
    let measurements = measurements.lock();
    measurements.get(&target).map(|(running, _)| Arc::clone(running)).ok_or_else(|| {
        Failure::new("request.unknown_target", format!("no request {target} is running"))
    })
}

fn measure(
    id: u64,
    Task { cost, work }: Task,
    measurements: &Measurements,
    output: &Output,
) -> Result<(), Failure> {
    let running = Arc::new(Running::new(id, output.clone()));
    {
        let mut open = measurements.lock();
        if open.contains_key(&id) {
            return Err(Failure::value("id", id, "an id that no running request has"));
        }
        if open.len() >= MAX_RUNNING {
            return Err(Failure::new(
                "request.too_many",
                format!("{MAX_RUNNING} measurements are running, which is the most there can be"),
            ));
        }
        let others = open.values().fold(Cost::default(), |all, (_, cost)| all.plus(*cost));
        cost.check_beside(others)?;
        open.insert(id, (Arc::clone(&running), cost));
    }
    let (open, output) = (Arc::clone(measurements), output.clone());
    let started = thread::Builder::new().spawn(move || {
        let measured = catch_unwind(AssertUnwindSafe(|| work(&running)));
        // Remove it first: a new request may reuse the id.
        open.lock().remove(&id);
        match measured {
            Ok(Ok(outcome)) => output.result(id, outcome),
            Ok(Err(failed)) => output.error(Some(id), failed.failure, failed.outcome),
            Err(_) => output.error(
                Some(id),
                Failure::new("engine.defect", "the measurement stopped by a defect of the engine")
                    .hint("its standard error shows where; please report this"),
                None,
            ),
        }
    });
    started.map_err(|error| {
        measurements.lock().remove(&id);
        Failure::system("a thread for the measurement", &error)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn lines(input: &[u8]) -> Vec<String> {
        let mut input = std::io::BufReader::with_capacity(1000, Cursor::new(input));
        let (mut line, mut found) = (Vec::new(), Vec::new());
        loop {
            match read_line(&mut input, &mut line).unwrap() {
                Line::Whole => found.push(String::from_utf8_lossy(&line).trim().to_owned()),
                Line::TooLong => found.push(format!("too long, {} kept", line.capacity())),
                Line::End => return found,
            }
        }
    }

    #[test]
    fn an_endless_line_is_skipped_in_bounded_memory() {
        let mut input = b"{\"a\":1}\n".to_vec();
        input.extend(vec![b'x'; 10 * MAX_LINE_BYTES]);
        input.extend(b"\nlast");
        let found = lines(&input);
        assert_eq!((found[0].as_str(), found[2].as_str()), ("{\"a\":1}", "last"));
        let kept: usize = found[1].split(' ').nth(2).unwrap().parse().unwrap();
        assert!(kept <= 4 * MAX_LINE_BYTES, "{kept} bytes kept");
    }
}
