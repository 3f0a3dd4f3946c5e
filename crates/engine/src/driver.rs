//! The conversation with the driver: lines in, replies out, a thread for each measurement.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;

use crate::cost::Cost;
use crate::host;
use crate::messages::{
    Armed, Cancelled, Command, Failure, Hello, MAX_LINE_BYTES, Outcome, PROGRESS_INTERVAL_NS, Pong,
    Reply, Request, SCHEMA_VERSION,
};
use crate::output::Output;
#[cfg(feature = "services")]
use crate::resolve;
use crate::running::{Measured, Running};
#[cfg(feature = "services")]
use crate::storage;
#[cfg(feature = "services")]
use crate::workloads::{copy, dataset, serve, stations};
use crate::workloads::{echo, stream};

/// Measurements at once at most, so that a driver gone mad cannot exhaust the host.
const MAX_RUNNING: usize = 16;

/// Of an error that repeats what was found, so much is told.
const MAX_MESSAGE_CHARACTERS: usize = 4096;

/// Once the driver is gone, requests have so long to end.
const END_NS: u64 = 2_000_000_000;
const END_LOOK: Duration = Duration::from_millis(2);

type Measurements = Arc<Mutex<HashMap<u64, (Arc<Running>, Cost)>>>;

/// Serve a driver until its side of the pipe closes.
pub fn serve(mut input: impl BufRead, output: &Output) {
    output.send(&Reply::Hello(Hello {
        engine_version: env!("CARGO_PKG_VERSION").into(),
        schema_version: SCHEMA_VERSION,
        pid: std::process::id(),
        capabilities: host::capabilities(),
        progress_interval_ns: PROGRESS_INTERVAL_NS,
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

/// The driver is gone: what measures is of no use to anyone, but what it made on this host is removed.
fn end(measurements: &Measurements) {
    let open = || measurements.lock().unwrap_or_else(PoisonError::into_inner);
    for (running, _) in open().values() {
        running.cancel();
    }
    let until = os::monotonic().plus_nanos(END_NS);
    while !open().is_empty() && os::monotonic() < until {
        thread::sleep(END_LOOK);
    }
    #[cfg(feature = "services")]
    storage::remove_all();
}

pub enum Line {
    Whole,
    TooLong,
    End,
}

/// Read up to the next line feed into `line`; of a line that is too long only its end is looked for.
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
    let understood = understand(line);
    let (id, request, cost) = match understood {
        Ok(understood) => understood,
        Err((id, failure)) => return output.error(id, failure, None),
    };
    match answer(request, id, cost, measurements, output) {
        Ok(Some(outcome)) => output.result(id, outcome),
        Ok(None) => {}
        Err(failure) => output.error(Some(id), failure, None),
    }
}

/// Read a line and check all that can be checked without a socket: the request, its id, and what it
/// may take; or why not, and the id if that can be read.
pub fn understand(line: &[u8]) -> Result<(u64, Request, Cost), (Option<u64>, Failure)> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: u64,
    }
    let command: Command = serde_json::from_slice(line).map_err(|error| {
        let id = serde_json::from_slice::<Named>(line).ok().map(|named| named.id);
        // It may repeat what was found.
        let message: String = error.to_string().chars().take(MAX_MESSAGE_CHARACTERS).collect();
        let failure = Failure::new("request.malformed", message)
            .hint("`lanlab-engine schema` prints what is understood");
        (id, failure)
    })?;
    let Command { id, request } = command;
    let cost = match &request {
        Request::StreamReceive(request) => stream::check_receive(request),
        Request::StreamSend(request) => stream::check_send(request),
        Request::EchoRespond(request) => echo::check_respond(request),
        Request::EchoRequest(request) => echo::check_request(request),
        #[cfg(feature = "services")]
        Request::Dataset(request) => dataset::check(request),
        #[cfg(feature = "services")]
        Request::TrialDirectory(_) | Request::ReadyMemory(_) => Ok(storage::small()),
        #[cfg(feature = "services")]
        Request::MeasureRoom(request) => storage::check_room(request),
        #[cfg(feature = "services")]
        Request::Resolve(request) => resolve::check(request),
        #[cfg(feature = "services")]
        Request::DropCaches(request) => dataset::check_drop_caches(request),
        #[cfg(feature = "services")]
        Request::Serve(request) => serve::check(request),
        #[cfg(feature = "services")]
        Request::CopyPrepare(request) => copy::check(&request.spec),
        #[cfg(feature = "services")]
        Request::Copy(request) => copy::check(&request.spec),
        #[cfg(feature = "services")]
        Request::CopyCheck(request) => copy::check(&request.spec),
        #[cfg(feature = "services")]
        Request::CopyEmpty(request) => copy::check(&request.spec),
        #[cfg(feature = "services")]
        Request::StationsPrepare(request) => stations::check(&request.spec),
        #[cfg(feature = "services")]
        Request::Stations(request) => stations::check(&request.spec),
        #[cfg(feature = "services")]
        Request::StationsEmpty(request) => stations::check(&request.spec),
        Request::Describe {} | Request::Ping {} | Request::Arm(_) | Request::Cancel(_) => {
            Ok(Cost::default())
        }
    };
    match cost.and_then(|cost| cost.check_beside(Cost::default()).map(|()| cost)) {
        Ok(cost) => Ok((id, request, cost)),
        Err(failure) => Err((Some(id), failure)),
    }
}

/// Answer at once, or start a measurement and give `None`.
fn answer(
    request: Request,
    id: u64,
    cost: Cost,
    measurements: &Measurements,
    output: &Output,
) -> Result<Option<Outcome>, Failure> {
    let measure = |work: Box<dyn FnOnce(&Running) -> Measured + Send>| {
        measure(id, cost, measurements, output, work)
    };
    match request {
        Request::Describe {} => Ok(Some(Outcome::Description(Box::new(host::describe())))),
        Request::Ping {} => Ok(Some(Outcome::Pong(Pong {
            monotonic_ns: os::monotonic().as_nanos(),
            realtime_ns: os::realtime_ns(),
            engine_cpu_ns: os::process_cpu_ns(),
        }))),
        Request::Arm(arm) => {
            let running = find(measurements, arm.target)?;
            let margin_ns = running.arm(Instant::from_nanos(arm.at_ns), os::monotonic())?;
            Ok(Some(Outcome::Armed(Armed { margin_ns })))
        }
        Request::Cancel(cancel) => {
            find(measurements, cancel.target)?.cancel();
            Ok(Some(Outcome::Cancelled(Cancelled { target: cancel.target })))
        }
        Request::StreamReceive(request) => {
            measure(Box::new(move |running| stream::receive(&request, running)))
        }
        Request::StreamSend(request) => {
            measure(Box::new(move |running| stream::send(&request, running)))
        }
        Request::EchoRespond(request) => {
            measure(Box::new(move |running| echo::respond(&request, running)))
        }
        Request::EchoRequest(request) => {
            measure(Box::new(move |running| echo::request(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::Dataset(request) => {
            measure(Box::new(move |running| dataset::make(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::TrialDirectory(request) => {
            measure(Box::new(move |running| storage::hold_directory(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::MeasureRoom(request) => {
            measure(Box::new(move |_| storage::measure_room(&request)))
        }
        #[cfg(feature = "services")]
        Request::ReadyMemory(request) => {
            measure(Box::new(move |running| storage::ready_memory(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::Resolve(request) => measure(Box::new(move |_| resolve::resolve(&request))),
        #[cfg(feature = "services")]
        Request::DropCaches(request) => {
            measure(Box::new(move |running| dataset::drop_caches(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::Serve(request) => {
            measure(Box::new(move |running| serve::serve(&request, running)))
        }
        #[cfg(feature = "services")]
        Request::CopyPrepare(request) => {
            measure(Box::new(move |running| copy::prepare(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::Copy(request) => {
            measure(Box::new(move |running| copy::copy(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::CopyCheck(request) => {
            measure(Box::new(move |running| copy::check_upload(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::CopyEmpty(request) => {
            measure(Box::new(move |running| copy::empty(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::StationsPrepare(request) => {
            measure(Box::new(move |running| stations::prepare(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::Stations(request) => {
            measure(Box::new(move |running| stations::work(&request.spec, running)))
        }
        #[cfg(feature = "services")]
        Request::StationsEmpty(request) => {
            measure(Box::new(move |running| stations::empty(&request.spec, running)))
        }
    }
}

fn find(measurements: &Measurements, target: u64) -> Result<Arc<Running>, Failure> {
    let measurements = measurements.lock().unwrap_or_else(PoisonError::into_inner);
    measurements.get(&target).map(|(running, _)| Arc::clone(running)).ok_or_else(|| {
        Failure::new("request.unknown_target", format!("no request {target} is running"))
    })
}

/// Run `work` on a thread of its own, which ends the request.
fn measure(
    id: u64,
    cost: Cost,
    measurements: &Measurements,
    output: &Output,
    work: Box<dyn FnOnce(&Running) -> Measured + Send>,
) -> Result<Option<Outcome>, Failure> {
    let running = Arc::new(Running::new(id, output.clone()));
    {
        let mut open = measurements.lock().unwrap_or_else(PoisonError::into_inner);
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
        // Only now may the id be used again.
        open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        match measured {
            Ok(Ok(outcome)) => output.result(id, outcome),
            Ok(Err(failed)) => output.error(Some(id), failed.0, failed.1),
            Err(_) => output.error(
                Some(id),
                Failure::new("engine.defect", "the measurement stopped by a defect of the engine")
                    .hint("its standard error says where; please report it"),
                None,
            ),
        }
    });
    started.map_err(|error| {
        measurements.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        Failure::system("a thread for the measurement", &error)
    })?;
    Ok(None)
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
