//! A host from the point of view of its programs.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use lanlab_medium::Counts;
use lanlab_units::{Clock as _, Instant};
use lanlab_workloads::virtual_time::{Task, VirtualTime};

use crate::address::{HostId, Mac, mac_of};
use crate::calls::CallId;
use crate::facts::CpuFacts;
use crate::node::{Key, Node};
use crate::shared::Shared;
use crate::{Cost, Machine};

pub struct Host<N> {
    shared: Rc<Shared<N>>,
    id: HostId,
}

impl<N> Clone for Host<N> {
    fn clone(&self) -> Self {
        Self { shared: Rc::clone(&self.shared), id: self.id }
    }
}

impl<N: Node + 'static> Host<N> {
    pub(crate) fn new(shared: Rc<Shared<N>>, id: HostId) -> Self {
        Self { shared, id }
    }

    pub fn id(&self) -> HostId {
        self.id
    }

    pub fn mac(&self) -> Mac {
        mac_of(self.id)
    }

    pub fn machine(&self) -> Machine {
        self.shared.state.borrow().hosts[usize::from(self.id)].machine.clone()
    }

    pub fn receive_call(&self) -> Cost {
        self.shared.state.borrow().hosts[usize::from(self.id)].machine.receive_call
    }

    pub fn send_call(&self) -> Cost {
        self.shared.state.borrow().hosts[usize::from(self.id)].machine.send_call
    }

    pub fn cpu(&self) -> CpuFacts {
        let now = self.now();
        self.shared.state.borrow().hosts[usize::from(self.id)].facts(now).cpu
    }

    pub fn medium(&self) -> Counts {
        self.shared.state.borrow().medium.counts().clone()
    }

    /// The world's clock, which programs can also wait on.
    pub fn clock(&self) -> &VirtualTime {
        &self.shared.time
    }

    pub fn now(&self) -> Instant {
        self.shared.time.now()
    }

    /// Start a program. The world ends when all programs have ended. `name` identifies it in a
    /// deadlock message.
    pub fn spawn<T: 'static>(
        &self,
        name: impl Into<Rc<str>>,
        program: impl Future<Output = T> + 'static,
    ) -> Task<T> {
        let programs = Rc::clone(&self.shared.programs);
        programs.set(programs.get() + 1);
        self.shared.time.spawn_named(name, async move {
            let value = program.await;
            programs.set(programs.get() - 1);
            value
        })
    }

    /// Start a program that does not keep the world running, such as a server.
    pub fn spawn_service(
        &self,
        name: impl Into<Rc<str>>,
        program: impl Future<Output = ()> + 'static,
    ) {
        self.shared.time.spawn_named(name, program);
    }

    /// Work at program level for this time, ns, varied by the machine's jitter. The work waits for
    /// its turn and for higher levels, and continues even if the future is dropped.
    pub fn compute(&self, time_ns: u64) -> Compute<N> {
        Compute { host: self.clone(), time_ns, call: None }
    }

    /// Freeze the host once, after `after_ns` and for `for_ns`. It processes nothing, and drops
    /// frames when its adapter is full.
    pub fn freeze(&self, after_ns: u64, for_ns: u64) {
        let host = self.clone();
        self.spawn_service("freeze", async move {
            host.clock().sleep_until(Instant::ZERO.plus_nanos(after_ns)).await;
            host.state().borrow_mut().stop(host.id, for_ns);
        });
    }

    pub fn call(&self, cost: Cost, message_bytes: usize) -> Compute<N> {
        self.compute(cost.of(message_bytes as u64))
    }

    /// Use the node now, in zero time: send, receive, open, query. Its frames are then sent.
    /// `using` must not use this host or another host of its world.
    pub fn with_node<R>(&self, using: impl FnOnce(&mut N, Instant) -> R) -> R {
        let mut state = self.shared.state.borrow_mut();
        let result = using(&mut state.host(self.id).node, self.shared.time.now());
        state.settle(self.id);
        result
    }

    /// Wait until `look` returns a value. It is called now and at each change of `key`
    /// ([`Node::poll_event`]). `what` describes the wait in a deadlock message.
    pub async fn until<R>(
        &self,
        key: Key,
        what: &'static str,
        mut look: impl FnMut(&mut N, Instant) -> Option<R>,
    ) -> R {
        poll_fn(|context| {
            if let Some(result) = self.with_node(&mut look) {
                return Poll::Ready(result);
            }
            self.wait(context, key, what);
            Poll::Pending
        })
        .await
    }

    /// Poll the current future again at the next change of `key`.
    pub(crate) fn wait(&self, context: &Context<'_>, key: Key, what: &'static str) {
        let wake = self.clock().waits_for(context, what);
        self.state().borrow_mut().host(self.id).waiters.add(key, wake);
    }

    /// Use the node from a `drop`. Does nothing if the world itself is being dropped.
    pub(crate) fn with_node_of_drop(&self, using: impl FnOnce(&mut N, Instant)) {
        if let Ok(mut state) = self.shared.state.try_borrow_mut() {
            using(&mut state.host(self.id).node, self.shared.time.now());
            state.settle(self.id);
        }
    }

    fn state(&self) -> &RefCell<crate::state::State<N>> {
        &self.shared.state
    }
}

pub struct Compute<N: Node + 'static> {
    host: Host<N>,
    time_ns: u64,
    call: Option<CallId>,
}

impl<N: Node + 'static> Future for Compute<N> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.host.shared.state.borrow_mut();
        let (host, time_ns) = (this.host.id, this.time_ns);
        let call = *this.call.get_or_insert_with(|| state.begin_call(host, time_ns));
        let time = &this.host.shared.time;
        if state.calls.poll(call, || time.waits_for(context, "its turn on the processor")) {
            this.call = None;
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl<N: Node + 'static> Drop for Compute<N> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.host.state().borrow_mut().calls.abandon(call);
        }
    }
}
