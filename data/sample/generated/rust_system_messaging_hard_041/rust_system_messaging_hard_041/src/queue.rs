//! One topic in memory: which message is ready, delayed, leased or dead.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use crate::{Error, Result};

const MAX_BACKOFF_MS: u64 = 60_000;

/// How long a lease lasts, how often a message is tried and how long it rests in between.
#[derive(Clone, Debug)]
pub struct Policy {
    pub visibility_ms: u64,
    pub max_attempts: u32,
    pub backoff_ms: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { visibility_ms: 30_000, max_attempts: 5, backoff_ms: 500 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: u64,
    pub payload: Vec<u8>,
    pub attempts: u32,
}

/// What a consumer shows to settle the delivery it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub id: u64,
    pub attempt: u32,
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.id, self.attempt)
    }
}

impl Receipt {
    pub fn parse(text: &str) -> Option<Receipt> {
        let (id, attempt) = text.split_once('-')?;
        Some(Receipt { id: id.parse().ok()?, attempt: attempt.parse().ok()? })
    }
}

/// What became of a refused delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Retry { due_ms: u64 },
    Dead,
}

struct Lease {
    message: Message,
    deadline_ms: u64,
}

#[derive(Default)]
pub struct Queue {
    ready: VecDeque<Message>,
    delayed: BTreeMap<(u64, u64), Message>,
    leased: HashMap<u64, Lease>,
    dead: Vec<Message>,
}

impl Queue {
    pub fn push(&mut self, message: Message) {
        self.ready.push_back(message);
    }

    /// Hands out the oldest ready message for the visibility time.
    pub fn lease(&mut self, now_ms: u64, policy: &Policy) -> Option<(Receipt, Vec<u8>)> {
        self.promote(now_ms);
        let mut message = self.ready.pop_front()?;
        message.attempts += 1;
        let receipt = Receipt { id: message.id, attempt: message.attempts };
        let payload = message.payload.clone();
        let deadline_ms = now_ms + policy.visibility_ms;
        self.leased.insert(receipt.id, Lease { message, deadline_ms });
        Some((receipt, payload))
    }

    /// Fails unless the receipt belongs to the delivery that is out now.
    pub fn check(&self, receipt: Receipt) -> Result<()> {
        match self.leased.get(&receipt.id) {
            Some(lease) if lease.message.attempts == receipt.attempt => Ok(()),
            _ => Err(Error::StaleReceipt),
        }
    }

    /// Ends the delivery; the message waits for its backoff or dies.
    pub fn nack(&mut self, receipt: Receipt, now_ms: u64, policy: &Policy) -> Result<Fate> {
        self.check(receipt)?;
        let message = self.withdraw(receipt.id).ok_or(Error::StaleReceipt)?;
        if message.attempts >= policy.max_attempts {
            self.dead.push(message);
            return Ok(Fate::Dead);
        }
        let doubled = policy.backoff_ms.saturating_mul(1 << (message.attempts - 1).min(16));
        let due_ms = now_ms + doubled.min(MAX_BACKOFF_MS);
        self.delayed.insert((due_ms, message.id), message);
        Ok(Fate::Retry { due_ms })
    }

    /// Takes back the leases that ran out; returns the ids of the messages that died.
    pub fn expire(&mut self, now_ms: u64, policy: &Policy) -> Vec<u64> {
        let mut late: Vec<u64> =
            self.leased.iter().filter(|(_, lease)| lease.deadline_ms <= now_ms).map(|(&id, _)| id).collect();
        late.sort_unstable_by(|a, b| b.cmp(a));
        let mut died = Vec::new();
        for message in late.into_iter().filter_map(|id| self.withdraw(id)).collect::<Vec<_>>() {
            if message.attempts > policy.max_attempts {
                died.push(message.id);
                self.dead.push(message);
            } else {
                self.ready.push_front(message);
            }
        }
        died
    }

    /// Moves a message to the dead letters, wherever it is.
    pub fn bury(&mut self, id: u64) {
        if let Some(message) = self.withdraw(id) {
            self.dead.push(message);
        }
    }

    /// Removes a message, wherever it is.
    pub fn withdraw(&mut self, id: u64) -> Option<Message> {
        if let Some(lease) = self.leased.remove(&id) {
            return Some(lease.message);
        }
        if let Some(at) = self.ready.iter().position(|message| message.id == id) {
            return self.ready.remove(at);
        }
        if let Some(&key) = self.delayed.keys().find(|key| key.1 == id) {
            return self.delayed.remove(&key);
        }
        let at = self.dead.iter().position(|message| message.id == id)?;
        Some(self.dead.remove(at))
    }

    /// The state and the number of attempts of a message.
    pub fn find(&self, id: u64) -> Option<(&'static str, u32)> {
        let ready = self.ready.iter().map(|message| ("ready", message));
        let delayed = self.delayed.values().map(|message| ("delayed", message));
        let leased = self.leased.values().map(|lease| ("leased", &lease.message));
        let dead = self.dead.iter().map(|message| ("dead", message));
        let mut all = ready.chain(delayed).chain(leased).chain(dead);
        all.find(|(_, message)| message.id == id).map(|(state, message)| (state, message.attempts))
    }

    /// Counts of ready, delayed, leased and dead messages.
    pub fn counts(&self) -> [usize; 4] {
        [self.ready.len(), self.delayed.len(), self.leased.len(), self.dead.len()]
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Message> {
        self.ready.iter().chain(self.delayed.values())
    }

    fn promote(&mut self, now_ms: u64) {
        let later = self.delayed.split_off(&(now_ms + 1, 0));
        let due = std::mem::replace(&mut self.delayed, later);
        self.ready.extend(due.into_iter().map(|(_, message)| message));
    }
}
