//! `serve`: an embedded server of a file service, until the driver ends it.

mod own_stack;

use std::time::Duration;

use lanlab_files::{Carrier, ServiceKind};
use lanlab_os as os;
use lanlab_servers::{self as servers, Bounds, Offer, Seen, StationOffer};
use lanlab_stack::node::CarrierKind;
use lanlab_workloads::failure_of;
use tokio::runtime::{Builder, Runtime};

use super::recorded;
use super::segment::{check_options, check_profile, check_segment};
use super::setup::{Ports, listen};
use crate::cost::{Cost, OWN_THREADS};
use crate::descriptors;
use crate::messages::{
    ClientSeen, Failure, Outcome, Ready, Reply, Serve, ServeEnded, Served, SocketOptions, Transport,
};
use crate::paths::absolute;
use crate::running::{Running, conclude};
use crate::stack_facts::stack_facts;
use crate::task::Task;

/// Maximum serving threads: one per processor, up to what a small server needs.
const MOST_THREADS: usize = 4;
/// Threads for file calls. Without a limit there is one per call in progress, up to 512: on few processors most of
/// them wait with a call in hand, and their stations stall while others continue.
const FILE_THREADS: usize = 8;
const MEMORY_BYTES: u64 = 256 << 20;
/// Characters forbidden in server and share names ([MS-FSCC] 2.1.6).
const FORBIDDEN: &[u8] = b"\"/\\[]:|<>+=;,?*";
const TICK: Duration = Duration::from_millis(20);

/// Serve until cancelled. Afterwards no connection or task is left, and its port is free.
pub fn serve(request: Serve) -> Result<Task, Failure> {
    let root = absolute(&request.root)?;
    check_options(request.options.are_of(request.service), request.service)?;
    let options = request.options.smb1();
    check_profile(options.profile, carrier_of(&request))?;
    let (oldest, newest) = options.dialects();
    if oldest > newest {
        let found = format!("{oldest:?}");
        let allowed = format!("{newest:?}, the newest, or an older one");
        return Err(Failure::value("oldest_dialect", found, allowed));
    }
    check_name("server_name", options.server_name.as_deref(), 15)?;
    check_name("share", request.options.share(), 12)?;
    let offer = Offer {
        port: request.port,
        credentials: request.credentials.clone(),
        read_only: request.read_only,
        options: request.options.clone(),
        station: station_of(&request)?,
        own_stack: request.options.stack().map(own_stack::plan_of).transpose()?,
        ..Offer::new(request.service, &root, request.bind)
    };
    let threads = OWN_THREADS + (MOST_THREADS + FILE_THREADS) as u64;
    Ok(Task::new(Cost { memory_bytes: MEMORY_BYTES, threads }, move |running| {
        let ended = run(&request, &offer, running)?;
        conclude(Outcome::ServeEnded(ended), Some(Failure::cancelled()))
    }))
}

fn check_name(field: &str, name: Option<&str>, longest: usize) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    let fits = (1..=longest).contains(&name.len())
        && name.bytes().all(|octet| octet.is_ascii_graphic() && !FORBIDDEN.contains(&octet));
    if fits && !name.eq_ignore_ascii_case("IPC$") {
        return Ok(());
    }
    Err(Failure::value(field, name, format!("1 to {longest} letters and digits of ASCII")))
}

fn descriptors(service: ServiceKind, connections: u64) -> u64 {
    match service {
        // NFS clients open nothing; the server keeps at most 256 files open for all of them.
        ServiceKind::Nfs => connections + connections.min(256),
        // Control connection, data connection, and a file; connection, and a file opened twice.
        ServiceKind::Ftp | ServiceKind::Ftps | ServiceKind::Webdav | ServiceKind::Webdavs => {
            3 * connections
        }
        _ => 2 * connections,
    }
}

fn runtime() -> Result<Runtime, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(FILE_THREADS)
        .enable_all()
        .build()
        .map_err(|error| Failure::system("threads of the server", &error))
}

fn carrier_of(request: &Serve) -> Carrier {
    request.station.as_ref().map_or(Carrier::Tcp, |station| station.carrier)
}

fn station_of(request: &Serve) -> Result<Option<StationOffer>, Failure> {
    let carrier = carrier_of(request);
    let goes_over = request.service.goes_over(carrier);
    match (carrier, &request.station) {
        (Carrier::Tcp, None) if goes_over => Ok(None),
        (Carrier::Frames(kind), Some(station)) if goes_over => {
            check_segment(station.ipx, carrier)?;
            let (place, name) = (recorded::begin(&station.link)?, station.name.clone());
            Ok(Some(StationOffer { carrier: kind, place, ipx: station.ipx, name }))
        }
        _ => {
            let found = format!("{} for {:?}", carrier.name(), request.service);
            let names_of = |service: ServiceKind| {
                let framed = CarrierKind::ALL.iter().map(|kind| Carrier::Frames(*kind));
                let framed = framed.filter(|carrier| service.goes_over(*carrier));
                framed.map(Carrier::name).collect::<Vec<_>>().join(" or ")
            };
            let allowed = format!(
                "{} for smb1 and {} for ncp, with a station; or {} without",
                names_of(ServiceKind::Smb1),
                names_of(ServiceKind::Ncp),
                Carrier::Tcp.name()
            );
            Err(Failure::value("carrier", found, allowed))
        }
    }
}

/// Check that a requested port is free, so that the error names its holder.
fn check_port(request: &Serve) -> Result<(), Failure> {
    let only = (request.port, request.port);
    let mut ports = Ports::new(Transport::Tcp, request.bind, only, 1);
    ports.take(|port| listen(request.bind, port, &SocketOptions::default())).map(drop)
}

fn bounds(request: &Serve) -> Bounds {
    Bounds { connections: request.connections as usize, ..Bounds::default() }
}

fn run(request: &Serve, offer: &Offer, running: &Running) -> Result<ServeEnded, Failure> {
    let needed = descriptors(request.service, request.connections.into());
    let whose = format!("{} connections of an embedded server", request.connections);
    descriptors::provide(needed, &whose)?;
    if offer.station.is_none() && offer.own_stack.is_none() {
        check_port(request)?;
    }
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let (start, cpu_ns) = (os::monotonic(), os::process_cpu_ns());
        let serving = servers::serve_within(offer, &bounds(request)).await.map_err(failure_of)?;
        let served = Served {
            share: serving.share().map(str::to_owned),
            trust_sha256: serving.trust_sha256().map(str::to_owned),
        };
        let (ports, served) = (vec![serving.port()], Some(served));
        running.tell_ready(Ready { ports, served, ..Ready::default() });
        while !running.is_cancelled() {
            tokio::select! {
                () = running.cancelled() => {}
                // Repetitions share an entry, and a flood is reported gradually.
                () = serving.noted(), if request.says_clients => tokio::time::sleep(TICK).await,
            }
            if request.says_clients {
                let now = Duration::from_nanos(os::monotonic().nanos_since(start));
                serving.seen(now).into_iter().for_each(|seen| tell(running, seen));
            }
        }
        let (accepted, carrier) = (serving.accepted(), serving.carrier_counts());
        let stack = serving.stack_facts().as_ref().map(stack_facts);
        serving.end().await;
        let engine_cpu_ns = Some(os::process_cpu_ns().saturating_sub(cpu_ns));
        let elapsed_ns = os::monotonic().nanos_since(start);
        Ok(ServeEnded { accepted, carrier, stack, elapsed_ns, engine_cpu_ns })
    });
    // Do not wait for a task that blocks in a system call.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

fn tell(running: &Running, seen: Seen) {
    let Seen { peer, what, times, left_out } = seen;
    running.tell(|id| Reply::ClientSeen(ClientSeen { id, peer, what, times, left_out }));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::net::{Ipv4Addr, TcpListener};
    use std::time::Duration;

    use lanlab_files::{IpxSegment, LinkPlace, OwnStack, OwnTcp, ServerOptions, Smb1ServerOptions};
    use lanlab_os::RawLinkPlace;

    use super::*;
    use crate::messages::ServeStation;

    /// With as many threads as calls, a system that runs them in turn serves some connections a hundred times
    /// as often as others.
    #[test]
    fn few_threads_read_files_of_many_connections() {
        let runtime = runtime().unwrap();
        let used: HashSet<_> = runtime.block_on(async {
            let calls: Vec<_> = (0..200)
                .map(|_| {
                    tokio::task::spawn_blocking(|| {
                        std::thread::sleep(Duration::from_millis(1));
                        std::thread::current().id()
                    })
                })
                .collect();
            let mut used = HashSet::new();
            for call in calls {
                used.insert(call.await.unwrap());
            }
            used
        });
        assert!(used.len() <= FILE_THREADS + MOST_THREADS, "{}", used.len());
    }

    #[test]
    fn connection_costs_depend_on_how_a_service_opens_files() {
        assert_eq!(descriptors(ServiceKind::Nfs, 10_000), 10_256);
        assert_eq!(descriptors(ServiceKind::Nfs, 3), 6);
        assert_eq!(descriptors(ServiceKind::Smb, 10_000), 20_000);
        assert_eq!(descriptors(ServiceKind::Ftps, 100), 300);
        assert_eq!(descriptors(ServiceKind::S3, 0), 0);
    }

    fn asked(root: &str) -> Serve {
        Serve {
            service: ServiceKind::Smb,
            root: root.to_owned(),
            bind: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            credentials: None,
            read_only: false,
            station: None,
            options: ServerOptions::None,
            connections: 0,
            says_clients: false,
        }
    }

    #[test]
    fn a_server_needs_memory_and_threads_for_serving_and_reading() {
        let folder = tempfile::tempdir().unwrap();
        let task = serve(asked(folder.path().to_str().unwrap())).ok().unwrap();
        let taken = Cost { memory_bytes: 268_435_456, threads: OWN_THREADS + 12 };
        assert_eq!(task.cost, taken);
        let many = Serve { connections: 10_000, ..asked("/") };
        assert_eq!(bounds(&many).connections, 10_000);
    }

    #[test]
    fn only_smb_1_and_ncp_are_served_from_a_station() {
        let offered = |service, carrier: Option<Carrier>| {
            let station = carrier.map(|carrier| ServeStation {
                carrier,
                link: LinkPlace::Descriptor(1_000_009),
                name: "SERVER".to_owned(),
                ipx: IpxSegment::default(),
            });
            station_of(&Serve { service, station, ..asked("/") })
                .map(|station| station.map(|station| (station.place, station.name)))
        };
        let (smb1, nbf) = (ServiceKind::Smb1, Carrier::NBF);
        let station = (RawLinkPlace::Descriptor(1_000_009), "SERVER".to_owned());
        assert_eq!(offered(smb1, Some(nbf)), Ok(Some(station)));
        assert_eq!(offered(smb1, None), Ok(None));
        for (service, carrier) in [
            (ServiceKind::Smb, Some(nbf)),
            (smb1, Some(Carrier::Tcp)),
            (ServiceKind::Ncp, Some(nbf)),
            (ServiceKind::Ncp, None),
        ] {
            let failure = offered(service, carrier).unwrap_err();
            assert!(failure.message.starts_with("`carrier`: "), "{failure}");
        }
    }

    #[test]
    fn options_of_another_service_are_refused() {
        let request = Serve {
            service: ServiceKind::Sftp,
            options: ServerOptions::Smb1(Smb1ServerOptions::default()),
            ..asked("/")
        };
        let failure = serve(request).err().unwrap();
        let expected = "`options`: found those of another service; allowed: of sftp";
        assert_eq!(failure.message, expected);
    }

    #[test]
    fn the_small_stack_needs_memory_for_one_client_and_an_address_of_its_own() {
        let planned = |memory_bytes, address: [u8; 4]| {
            let (link, address) = (LinkPlace::Descriptor(1_000_009), address.into());
            let tcp = OwnTcp::default();
            own_stack::plan_of(&OwnStack { link, address, memory_bytes, tcp })
        };
        let address = [10, 77, 0, 77];
        let plan = planned(1_000_000, address).unwrap();
        assert!(plan.connections > 4 && plan.most_bytes() <= 1_000_000, "{plan:?}");
        let failure = planned(64_000, address).unwrap_err();
        let least: u64 = failure.message.split(' ').rev().nth(3).unwrap().parse().unwrap();
        assert!(planned(least, address).is_ok(), "{failure}");
        assert!(planned(least - 1, address).is_err());
        assert!(planned(500_000, [127, 0, 0, 1]).is_err());
    }

    #[test]
    fn a_port_in_use_is_refused_before_a_server_starts() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let request = Serve { port, ..asked("/") };
        assert_eq!(check_port(&request).unwrap_err().code, "bind.in_use");
        assert_eq!(check_port(&asked("/")), Ok(()));
    }
}
