//! A durable message queue: topics, leases and dead letters over a segmented log.

use std::fmt;
use std::io;

pub mod access;
pub mod broker;
pub mod protocol;
pub mod queue;
pub mod record;
pub mod wal;

/// Everything that can go wrong, as the caller needs to tell it apart.
#[derive(Debug)]
pub enum Error {
    Io(io::Error),
    /// The segment and the offset in it of bytes that are no record.
    Corrupt(u64, usize),
    BadTopic(String),
    UnknownTopic(String),
    UnknownMessage(u64),
    StaleReceipt,
    TooLarge(usize),
    Denied,
    Syntax(&'static str),
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(cause) => write!(f, "io: {cause}"),
            Error::Corrupt(segment, offset) => write!(f, "corrupt: segment {segment} at byte {offset}"),
            Error::BadTopic(topic) => write!(f, "bad-topic {topic}"),
            Error::UnknownTopic(topic) => write!(f, "unknown-topic {topic}"),
            Error::UnknownMessage(id) => write!(f, "unknown-message {id}"),
            Error::StaleReceipt => write!(f, "stale-receipt"),
            Error::TooLarge(size) => write!(f, "too-large {size}"),
            Error::Denied => write!(f, "denied"),
            Error::Syntax(usage) => write!(f, "usage: {usage}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        Error::Io(cause)
    }
}
