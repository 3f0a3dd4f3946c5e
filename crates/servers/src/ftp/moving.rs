//! Files and listings sent over a data connection.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::line_ends::LineEnds;
use super::system::System;

/// Bytes of a file moved at once, and buffered per connection.
const BLOCK_BYTES: usize = 1 << 18;

#[derive(Debug)]
pub enum Broken {
    Connection,
    File(io::Error),
}

/// Send a file from an offset to its end; `ends` converts line ends.
pub async fn send<S: System>(
    system: &S,
    wire: &mut S::Wire,
    file: &S::File,
    mut offset: u64,
    mut ends: Option<LineEnds>,
) -> Result<(), Broken> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = system.read_at(file, &mut block, offset).await.map_err(Broken::File)?;
        if count == 0 {
            break;
        }
        match &mut ends {
            Some(ends) => send_octets(system, wire, &ends.added(&block[..count])).await?,
            None => send_octets(system, wire, &block[..count]).await?,
        }
        offset += count as u64;
    }
    end(system, wire).await
}

pub async fn send_octets<S: System>(
    system: &S,
    wire: &mut S::Wire,
    octets: &[u8],
) -> Result<(), Broken> {
    system.patiently(wire.write_all(octets)).await.map_err(|_| Broken::Connection)
}

pub async fn end<S: System>(system: &S, wire: &mut S::Wire) -> Result<(), Broken> {
    system.patiently(wire.shutdown()).await.map_err(|_| Broken::Connection)
}

/// Receive a file from an offset on, until the connection ends; `ends` converts line ends.
pub async fn receive<S: System>(
    system: &S,
    wire: &mut S::Wire,
    file: &S::File,
    mut offset: u64,
    mut ends: Option<LineEnds>,
) -> Result<(), Broken> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = system.patiently(wire.read(&mut block)).await;
        let count = read.map_err(|_| Broken::Connection)?;
        let text;
        let data = match &mut ends {
            None => &block[..count],
            Some(_) if count == 0 => ends.take().map_or(&b""[..], LineEnds::rest),
            Some(ends) => {
                text = ends.removed(&block[..count]);
                &text
            }
        };
        if data.is_empty() && count == 0 {
            return Ok(());
        }
        let written = system.write_all_at(file, data, offset).await;
        written.map_err(Broken::File)?;
        offset += data.len() as u64;
    }
}
