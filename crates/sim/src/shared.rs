//! The state that a world, its hosts and its programs share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lanlab_workloads::virtual_time::VirtualTime;

use crate::state::State;

pub(crate) struct Shared<N> {
    pub(crate) time: VirtualTime,
    pub(crate) state: RefCell<State<N>>,
    pub(crate) programs: Rc<Cell<usize>>,
    pub(crate) events: Cell<u64>,
}

impl<N> Shared<N> {
    pub(crate) fn new(time: VirtualTime, state: State<N>) -> Self {
        Self {
            time,
            state: RefCell::new(state),
            programs: Rc::new(Cell::new(0)),
            events: Cell::new(0),
        }
    }
}
