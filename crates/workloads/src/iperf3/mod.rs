//! The dialogue of iperf3's control connection: no socket here, and time is an argument.

mod client;
mod inbox;

pub use client::{Client, Event, Test, flow_number};

#[cfg(test)]
mod tests;
