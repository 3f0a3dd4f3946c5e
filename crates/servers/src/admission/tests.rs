use std::time::Instant;

use super::*;

fn within<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let test = async { tokio::time::timeout(Duration::from_secs(20), test).await };
    runtime.block_on(test).expect("it waits for ever")
}

fn somebody() -> Whose {
    std::net::IpAddr::from([127, 0, 0, 1]).into()
}

#[test]
fn a_waiting_client_gets_the_memory_of_an_idle_one() {
    within(async {
        let budget = MemoryBudget::new(10 << 10, Duration::from_millis(100));
        let start = Instant::now();
        let (idle, busy) = (
            budget.hold(6 << 10, somebody()).await.unwrap(),
            budget.hold(4 << 10, somebody()).await.unwrap(),
        );
        let moving = async {
            loop {
                // It moves just before each search for idle holders, so that it is never idle.
                busy.moved();
                tokio::task::yield_now().await;
            }
        };
        let leaving = async {
            idle.ended().await;
            drop(idle);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = moving => {},
            third = budget.hold(5 << 10, somebody()) => drop(third.unwrap()),
            () = leaving => {},
            () = busy.ended() => panic!("it moved all the time"),
        }
        assert!(start.elapsed() >= Duration::from_millis(100), "{:?}", start.elapsed());
        // While no client waits, no connection is ended.
        let idle = budget.hold(6 << 10, somebody()).await.unwrap();
        tokio::time::timeout(Duration::from_millis(200), idle.ended()).await.unwrap_err();
    });
}

/// One address holds most of the memory. It makes room, although another was there first.
#[test]
fn the_address_with_most_connections_makes_room_first() {
    within(async {
        let budget = MemoryBudget::new(4 << 10, Duration::from_millis(50));
        let other = std::net::IpAddr::from([127, 0, 0, 2]).into();
        let first = budget.hold(1 << 10, other).await.unwrap();
        let mut crowd = Vec::new();
        for _ in 0..3 {
            crowd.push(budget.hold(1 << 10, somebody()).await.unwrap());
        }
        let oldest = crowd.remove(0);
        let leaving = async {
            oldest.ended().await;
            drop(oldest);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = leaving => {},
            () = first.ended() => panic!("it has one place"),
            late = budget.hold(1 << 10, other) => drop(late.unwrap()),
        }
    });
}

/// Admission for two connections at once, which prove themselves by one byte.
async fn admission(patience: Duration, grace: Duration) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bounds =
        Bounds { strangers_bytes: 2 << 10, crowded: grace, login: patience, ..Bounds::default() };
    let admission = Admission::new(&bounds, 1 << 10, &Arc::default());
    tokio::spawn(admission.serve(listener, |mut stream, _, proof| async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut octet = [0; 1];
        while stream.read_exact(&mut octet).await.is_ok() {
            proof.give();
            stream.write_all(&octet).await.unwrap();
        }
    }));
    address
}

async fn proves(stream: &mut TcpStream) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    stream.write_all(b"x").await.is_ok() && stream.read_exact(&mut [0; 1]).await.is_ok()
}

#[test]
fn clients_that_do_not_log_in_in_time_are_dropped() {
    within(async {
        let address = admission(Duration::from_millis(200), Duration::from_mins(1)).await;
        let mut known = TcpStream::connect(address).await.unwrap();
        while !proves(&mut known).await {
            // On a busy machine, the client's time may be over before its turn comes.
            known = TcpStream::connect(address).await.unwrap();
        }
        let start = Instant::now();
        let mut stranger = TcpStream::connect(address).await.unwrap();
        assert!(!matches!(
            tokio::io::AsyncReadExt::read(&mut stranger, &mut [0; 1]).await,
            Ok(1..)
        ));
        assert!(start.elapsed() >= Duration::from_millis(200));
        assert!(proves(&mut known).await, "what is proved stays so");
    });
}

/// There is room for two, each for half a second: all in turn would take 50 s.
#[test]
fn an_active_client_is_served_before_any_number_of_silent_ones() {
    within(async {
        let address = admission(Duration::from_mins(1), Duration::from_millis(500)).await;
        let mut silent = Vec::new();
        for _ in 0..200 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut late = TcpStream::connect(address).await.unwrap();
        assert!(proves(&mut late).await);
    });
}

#[test]
fn waiting_clients_are_greeted() {
    within(async {
        use tokio::io::AsyncReadExt;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let bounds = Bounds { strangers_bytes: 1 << 10, ..Bounds::default() };
        let admission = Admission::new(&bounds, 1 << 10, &Arc::default()).greeting(b"hello");
        tokio::spawn(admission.serve(listener, |_stream, _, _proof| std::future::pending()));
        let mut some = Vec::new();
        for _ in 0..3 {
            some.push(TcpStream::connect(address).await.unwrap());
        }
        for stream in &mut some {
            let mut heard = [0; 5];
            stream.read_exact(&mut heard).await.unwrap();
            assert_eq!(&heard, b"hello");
        }
    });
}

#[test]
fn a_crowd_of_strangers_keeps_nobody_out_for_long() {
    within(async {
        let address = admission(Duration::from_mins(1), Duration::from_millis(50)).await;
        let mut known = TcpStream::connect(address).await.unwrap();
        assert!(proves(&mut known).await);
        let mut crowd = Vec::new();
        for _ in 0..20 {
            crowd.push(TcpStream::connect(address).await.unwrap());
        }
        let mut late = TcpStream::connect(address).await.unwrap();
        assert!(proves(&mut late).await);
        assert!(proves(&mut known).await);
    });
}
