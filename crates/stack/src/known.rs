//! Numbers of period stacks, each with its certainty.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    Observed,
    Primary,
    Secondary,
    Assumed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<T> {
    pub value: T,
    pub certainty: Certainty,
}

pub(crate) const fn observed<T: Copy>(value: T) -> Known<T> {
    Known { value, certainty: Certainty::Observed }
}

pub(crate) const fn primary<T: Copy>(value: T) -> Known<T> {
    Known { value, certainty: Certainty::Primary }
}

pub(crate) const fn secondary<T: Copy>(value: T) -> Known<T> {
    Known { value, certainty: Certainty::Secondary }
}

pub(crate) const fn assumed<T: Copy>(value: T) -> Known<T> {
    Known { value, certainty: Certainty::Assumed }
}
