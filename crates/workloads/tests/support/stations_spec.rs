//! A trial of stations, for tests to vary.

use lanlab_files::{ServiceKind, Target};
use lanlab_messages::{
    BlockAccess, OwnStations, StationOperation, StationSync, StationsSpec, StationsUntil,
};

/// One station that reads 100 blocks of 750 bytes, one after another.
pub fn spec() -> StationsSpec {
    StationsSpec {
        service: Target {
            directory: "made up".to_owned(),
            timeout_ns: 1_000_000_000,
            ..Target::new(ServiceKind::Memory)
        },
        working_name: "lanlab-test".to_owned(),
        token: "0".repeat(32),
        stations: 1,
        own: OwnStations { first: 0, count: 1 },
        operation: StationOperation::Read,
        read_ratio: 0.5,
        access: BlockAccess::Sequential,
        message_size_bytes: 750,
        file_size_bytes: 75_000,
        think_ns: 0,
        open_loop: None,
        sync: StationSync::None,
        until: StationsUntil { readings_per_station: Some(100), ..StationsUntil::default() },
        most_readings: 1_000_000,
        retries: 0,
        seed: 1,
        verify: true,
        connects_at_once: 16,
        threads: None,
    }
}
