//! Clocks, CPU time, TCP and devices, as far as this system has them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use lanlab_messages::CpuTime;
use lanlab_os::{
    TcpLimits, lengthen_accept_queue, limit_tcp, monotonic, prepare_thread, realtime_ns,
    set_congestion_control, sleep_until, tcp_info, thread_usage,
};
use socket2::{Domain, Protocol, Socket, Type};

#[test]
fn the_monotonic_clock_does_not_go_back() {
    let mut last = monotonic();
    for _ in 0..10_000 {
        let now = monotonic();
        assert!(now >= last);
        last = now;
    }
}

#[test]
fn a_sleep_never_ends_early() {
    prepare_thread();
    for ahead_ns in [0, 50_000, 2_000_000] {
        let deadline = monotonic().plus_nanos(ahead_ns);
        sleep_until(deadline);
        assert!(monotonic() >= deadline);
    }
    // A time that has passed is no time to wait for.
    let before = monotonic();
    sleep_until(before.minus_nanos(60_000_000_000));
    assert!(monotonic().nanos_since(before) < 60_000_000_000);
}

#[test]
fn the_calendar_clock_is_that_of_the_standard_library() {
    let now_ns = || {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        i128::try_from(since.as_nanos()).unwrap()
    };
    let before_ns = now_ns();
    let ours_ns = i128::from(realtime_ns());
    assert!((before_ns..=now_ns()).contains(&ours_ns));
}

#[test]
fn the_cpu_time_of_a_thread_is_its_own() {
    let work = || {
        let before = thread_usage();
        let mut sum = 0_u64;
        while thread_usage().since(before).user_ns < 20_000_000 {
            for number in 0..10_000_u64 {
                sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(number));
            }
        }
        thread_usage().since(before)
    };
    let before = thread_usage();
    let worked = std::thread::spawn(work).join().unwrap();
    let waited = thread_usage().since(before);
    assert!(worked.user_ns >= 20_000_000);
    // To wait for the other costs next to nothing.
    assert!(waited.user_ns < worked.user_ns, "{waited:?}");
}

#[test]
fn usage_adds_up() {
    let some = CpuTime { user_ns: 5, system_ns: 7, voluntary_switches: 1, involuntary_switches: 2 };
    assert_eq!(some.plus(some).since(some), some);
    assert_eq!(some.since(some.plus(some)), CpuTime::default());
}

fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn tcp_info_matches_the_sent_bytes() {
    let (mut client, mut server) = connection();
    client.write_all(&[1; 10_000]).unwrap();
    let mut octets = [0; 10_000];
    server.read_exact(&mut octets).unwrap();
    let received = tcp_info(&server).unwrap();
    assert_eq!(received.facts.received_bytes, 10_000);
    assert!(received.facts.data_segments_received >= 1);
    // The answer to the last segment may still be on its way.
    let sent = loop {
        let sent = tcp_info(&client).unwrap();
        if sent.facts.acknowledged_bytes >= 10_000 {
            break sent;
        }
        std::thread::yield_now();
    };
    // The begin of the connection counts as a byte.
    assert!(sent.facts.acknowledged_bytes <= 10_001);
    assert!(
        sent.facts.data_segments_sent >= 1
            && sent.facts.segments_sent >= sent.facts.data_segments_sent
    );
    assert!(sent.facts.maximum_segment_bytes >= 536);
    assert!(sent.facts.congestion_window_segments >= 1);
    assert!(sent.facts.round_trip_ns > 0);
}

#[test]
fn a_missing_congestion_control_is_refused() {
    let (client, _server) = connection();
    let error = set_congestion_control(&client, "hope").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

mod linux {
    use super::*;
    use lanlab_os::{Alarm, choose_port_late, descriptor_limit};
    use lanlab_os::{offloads, set_offloads};

    #[test]
    fn an_alarm_fires_once_and_on_time() {
        let alarm = Alarm::new().unwrap();
        let would_block = |alarm: &Alarm| {
            alarm.quiet().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        assert!(would_block(&alarm), "it was not set");
        let at = monotonic().plus_nanos(20_000_000);
        alarm.set(at).unwrap();
        // What has gone off is quiet from then on.
        let goes_off = || {
            while would_block(&alarm) {
                assert!(monotonic().nanos_since(at) < 30_000_000_000, "never");
            }
        };
        goes_off();
        assert!(monotonic() >= at);
        assert!(would_block(&alarm), "twice");
        // A time that has passed is now.
        alarm.set(at).unwrap();
        goes_off();
    }

    /// As many bound sockets as there are ports would else find none left.
    #[test]
    fn late_bound_ports_are_assigned_on_connect() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        let socket = socket2::Socket::new(
            socket2::Domain::IPV4,
            socket2::Type::STREAM,
            Some(socket2::Protocol::TCP),
        )
        .unwrap();
        choose_port_late(&socket).unwrap();
        socket.bind(&own.into()).unwrap();
        let bound = socket.local_addr().unwrap().as_socket().unwrap();
        assert_eq!(bound.port(), 0, "a port was taken already");
        socket.connect(&listener.local_addr().unwrap().into()).unwrap();
        let connected = socket.local_addr().unwrap().as_socket().unwrap();
        assert!(connected.port() > 0 && connected.ip().is_loopback());
        assert!(descriptor_limit() >= 64);
    }

    #[test]
    fn an_available_congestion_control_is_set() {
        let (client, _server) = connection();
        // Every kernel has this one.
        set_congestion_control(&client, "reno").unwrap();
        let name = socket2::SockRef::from(&client).tcp_congestion().unwrap();
        assert!(name.starts_with(b"reno"), "{name:?}");
    }

    #[test]
    fn the_loopback_device_has_offloads() {
        let list = offloads("lo").unwrap();
        assert_eq!(list.len(), 6);
        let segmentation =
            list.iter().find(|offload| offload.name == "tcp-segmentation-offload").unwrap();
        assert!(segmentation.on, "the kernel does not let anyone switch it off for `lo`");
    }

    #[test]
    fn a_missing_device_is_an_error() {
        for name in ["no-such-device", "a-name-that-no-device-can-have", ""] {
            let error = offloads(name).unwrap_err();
            // ENODEV, netdevice(7).
            assert_eq!(error.raw_os_error(), Some(19), "{name}: {error}");
            assert_eq!(set_offloads(name, false).unwrap_err().raw_os_error(), Some(19), "{name}");
        }
        assert!(offloads("lo\0eth0").is_err());
    }
}

#[test]
fn limits_of_tcp_hold_in_both_directions() {
    let limits = TcpLimits { maximum_segment_bytes: 1460, window_bytes: 8760 };
    let socket = |limits| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
        limit_tcp(&socket, limits).unwrap();
        socket
    };
    let (listener, client) = (socket(limits), socket(limits));
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    listener.listen(1).unwrap();
    client.connect(&listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    for end in [&client, &server] {
        let info = tcp_info(end).unwrap();
        let timestamps = if info.has_timestamps { 12 } else { 0 };
        assert_eq!(info.facts.maximum_segment_bytes, 1460 - timestamps);
    }

    let reader = std::thread::spawn(move || {
        let (mut server, mut octets) = (server, vec![0; 65_536]);
        while server.read(&mut octets).unwrap() > 0 {}
    });
    let (mut client, mut largest) = (client, 0);
    let message = vec![0; 100_000];
    for _ in 0..100 {
        client.write_all(&message).unwrap();
        largest = largest.max(tcp_info(&client).unwrap().peer_window_bytes);
    }
    drop(client);
    reader.join().unwrap();
    // The kernel never announces more than the buffer, which is twice 7/8 of the window.
    assert!((2_920..=15_330).contains(&largest), "{largest}");
}

#[test]
fn a_listener_of_another_part_can_let_more_connections_wait() {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    socket.listen(1).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    lengthen_accept_queue(address.port(), 64);
    // Without room the kernel drops the SYN, which is resent after a second.
    let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(900)).unwrap();
    assert_eq!((0..40).map(connect).collect::<Vec<_>>().len(), 40);
}
