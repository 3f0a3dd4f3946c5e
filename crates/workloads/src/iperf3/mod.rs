//! The dialogue of iperf3's control connection: no socket here, and time is an argument.

mod asked;
mod client;
mod inbox;
mod sentence;
mod server;

pub use asked::{Asked, Bounds, Refused};
pub use client::{Client, Event, Test, flow_number};
pub use server::{Served, Server};

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
