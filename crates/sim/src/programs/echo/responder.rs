//! The end that sends requests back.

use std::cell::Cell;
use std::rc::Rc;

use lanlab_messages::Transport;
use lanlab_stack::ip::{ConnectionId, Datagram, Received, Refusal, SocketId};
use lanlab_wire::probe::Layout;

use super::Echo;
use crate::program::Host;
use crate::programs::HostNode;
use crate::programs::connection::{accept, await_bytes, write_all};
use crate::programs::keys::datagram_key;

#[derive(Debug, Default)]
pub struct Answered {
    pub answered: Cell<u64>,
    pub refused: Cell<u64>,
    pub foreign: Cell<u64>,
}

fn add_one(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

/// Answer all requests to `host` as long as the world runs. It is a service: the world does not
/// wait for it.
pub fn respond(host: &Host<HostNode>, echo: &Echo, answered: &Rc<Answered>) -> Result<(), Refusal> {
    let (port, (receive, send)) = (echo.to.port(), echo.buffers);
    let (own, echo, answered) = (host.clone(), echo.clone(), Rc::clone(answered));
    match echo.plan.transport {
        Transport::Udp => {
            let bound = host.with_node(|node, _| node.ip.interface.bind(port, receive, send))?;
            host.spawn_service("responder", answer_datagrams(own, bound, echo, answered));
        }
        Transport::Tcp => {
            host.with_node(|node, _| node.ip.interface.listen(port));
            host.spawn_service("responder", async move {
                loop {
                    let connection = accept(&own, port).await;
                    let (own, echo, answered) = (own.clone(), echo.clone(), Rc::clone(&answered));
                    let work = answer_connection(own.clone(), connection, echo, answered);
                    own.spawn_service("responder of a connection", work);
                }
            });
        }
    }
    Ok(())
}

async fn answer_datagrams(
    host: Host<HostNode>,
    socket: SocketId,
    echo: Echo,
    answered: Rc<Answered>,
) {
    let (asked, replied) = (Layout::of(echo.plan.message_bytes), Layout::of(echo.reply_bytes));
    let (mut request, mut reply) = (Vec::new(), vec![0; echo.reply_bytes]);
    let (receive_call, send_call) = (host.receive_call(), host.send_call());
    loop {
        let bytes = host
            .until(datagram_key(socket), "a request", |node, _| {
                node.ip.interface.datagram_bytes(socket)
            })
            .await;
        host.call(receive_call, bytes).await;
        let take =
            |node: &mut HostNode, _| node.ip.interface.receive_datagram(socket, &mut request);
        let Some(Datagram { from, .. }) = host.with_node(take) else { continue };
        let header =
            asked.parse(&request).ok().filter(|_| request.len() == echo.plan.message_bytes);
        let Some(header) = header else {
            add_one(&answered.foreign);
            continue;
        };
        replied.emit(&header, &mut reply);
        host.call(send_call, reply.len()).await;
        // A responder does not wait: if there is no room, the reply is dropped.
        let send = |node: &mut HostNode, _| node.ip.interface.send_datagram(socket, from, &reply);
        let is_sent = host.with_node(send).is_ok();
        add_one(if is_sent { &answered.answered } else { &answered.refused });
    }
}

async fn answer_connection(
    host: Host<HostNode>,
    connection: ConnectionId,
    echo: Echo,
    answered: Rc<Answered>,
) {
    let mut buffer = vec![0; echo.plan.message_bytes.min(1 << 20)];
    let reply = vec![0; echo.reply_bytes];
    let (receive_call, send_call) = (host.receive_call(), host.send_call());
    loop {
        let mut missing = echo.plan.message_bytes;
        while missing > 0 {
            let wanted = missing.min(buffer.len());
            let came = await_bytes(&host, connection, wanted, "a request", None).await;
            let Some(Ok(readable)) = came else {
                host.with_node(|node, now| node.ip.interface.close(now, connection));
                return;
            };
            host.call(receive_call, readable).await;
            let into = &mut buffer[..readable];
            let take = |node: &mut HostNode, now| node.ip.interface.receive(now, connection, into);
            if let Received::Bytes(bytes) = host.with_node(take) {
                missing -= bytes;
            }
        }
        host.call(send_call, reply.len()).await;
        if !write_all(&host, connection, &reply).await {
            return;
        }
        add_one(&answered.answered);
    }
}
