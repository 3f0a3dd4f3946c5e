//! Sums per station and time slice: exact, even if readings are thinned.

/// Maximum slices of a trial; longer trials get wider ones.
const SLICES: usize = 64;
pub const CELL_BYTES: usize = 48;
/// Cells per line, so that their Base64 stays below the limit of a line.
pub const CELLS_A_LINE: usize = 13_000;
pub const STATION_BYTES: u64 = (SLICES * size_of::<Cell>()) as u64;
/// Initial slice width as a power of two: 8.4 ms.
const FIRST_WIDTH: u32 = 23;

/// Operations of a station that ended in a slice, successful at the first attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cell {
    operations: u64,
    sum_ns: u64,
    squares_ns2: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        if other.operations == 0 {
            return;
        }
        if self.operations == 0 || other.min_ns < self.min_ns {
            self.min_ns = other.min_ns;
        }
        self.operations += other.operations;
        self.sum_ns += other.sum_ns;
        self.squares_ns2 += other.squares_ns2;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

#[derive(Debug)]
pub struct Slices {
    first: u32,
    step: u32,
    cells: Vec<Cell>,
    pub width: u32,
}

impl Slices {
    /// For `stations` stations: every `step`th of all from `first` on. If the duration is known,
    /// slices have their final width from the start.
    pub fn new(first: u32, step: u32, stations: usize, time_ns: Option<u64>) -> Self {
        let mut width = FIRST_WIDTH;
        while time_ns.is_some_and(|time_ns| time_ns >> width >= SLICES as u64) {
            width += 1;
        }
        Self { first, step: step.max(1), cells: vec![Cell::default(); stations * SLICES], width }
    }

    pub fn record(&mut self, station: u32, end_ns: u64, response_ns: u64) {
        while end_ns >> self.width >= SLICES as u64 {
            self.widen();
        }
        let place = ((station - self.first) / self.step) as usize * SLICES;
        let cell = &mut self.cells[place + (end_ns >> self.width) as usize];
        cell.add(&Cell {
            operations: 1,
            sum_ns: response_ns,
            squares_ns2: (response_ns as f64) * (response_ns as f64),
            min_ns: response_ns,
            max_ns: response_ns,
        });
    }

    fn widen(&mut self) {
        self.width += 1;
        for of_station in self.cells.chunks_exact_mut(SLICES) {
            for slice in 0..SLICES / 2 {
                let mut both = of_station[2 * slice];
                both.add(&of_station[2 * slice + 1]);
                of_station[slice] = both;
            }
            of_station[SLICES / 2..].fill(Cell::default());
        }
    }

    pub fn widen_to(&mut self, width: u32) {
        while self.width < width {
            self.widen();
        }
    }

    #[cfg(test)]
    pub fn operations(&self) -> u64 {
        self.cells.iter().map(|cell| cell.operations).sum()
    }

    /// The non-empty cells as bytes; see `StationSlices` in the messages.
    pub fn octets(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        for (place, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.operations > 0) {
            let station = self.first + (place / SLICES) as u32 * self.step;
            octets.extend_from_slice(&station.to_le_bytes());
            octets.extend_from_slice(&((place % SLICES) as u32).to_le_bytes());
            octets.extend_from_slice(&cell.operations.to_le_bytes());
            octets.extend_from_slice(&cell.sum_ns.to_le_bytes());
            octets.extend_from_slice(&cell.squares_ns2.to_le_bytes());
            octets.extend_from_slice(&cell.min_ns.to_le_bytes());
            octets.extend_from_slice(&cell.max_ns.to_le_bytes());
        }
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(slices: &Slices) -> Cell {
        let mut all = Cell::default();
        for cell in &slices.cells {
            all.add(cell);
        }
        all
    }

    #[test]
    fn slices_that_grow_wider_lose_nothing() {
        let mut slices = Slices::new(3, 2, 4, None);
        for number in 0..1000_u64 {
            slices.record(3 + 2 * (number % 4) as u32, number * 10_000_000, number + 1);
        }
        // 10 s in at most 64 slices, whose length is a power of two: 2^28 ns are 0.27 s.
        assert_eq!(slices.width, 28);
        let expected = Cell {
            operations: 1000,
            sum_ns: 500_500,
            squares_ns2: 333_833_500.0,
            min_ns: 1,
            max_ns: 1000,
        };
        assert_eq!((total(&slices), slices.operations()), (expected, 1000));
        slices.widen_to(30);
        assert_eq!((total(&slices), slices.width), (expected, 30));
        assert_eq!(slices.octets().len() % CELL_BYTES, 0);
        assert_eq!(slices.octets()[..8], [3, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn trials_of_known_duration_have_fixed_slices() {
        let slices = Slices::new(0, 1, 1, Some(5_000_000_000));
        assert_eq!(slices.width, 27);
        assert!(5_000_000_000 >> 27 < SLICES as u64);
    }
}
