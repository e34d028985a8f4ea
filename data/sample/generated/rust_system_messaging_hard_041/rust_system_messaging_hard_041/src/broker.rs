//! The broker: topics in memory, the log on disk, and the order in which the two change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::queue::{Fate, Message, Policy, Queue, Receipt};
use crate::record::{Kind, Record, MAX_PAYLOAD};
use crate::wal::Wal;
use crate::{Error, Result};

pub const SEGMENT_LIMIT: u64 = 4 * 1024 * 1024;
const MAX_TOPIC: usize = 64;

pub struct Broker {
    pub(crate) wal: Wal,
    topics: BTreeMap<String, Queue>,
    policy: Policy,
    next_id: u64,
    dir: PathBuf,
}

impl Broker {
    /// Opens the data directory and rebuilds every topic from the log.
    pub fn open(dir: &Path, policy: Policy, segment_limit: u64) -> Result<Broker> {
        let (wal, records) = Wal::open(&dir.join("segments"), segment_limit)?;
        let next_id = records.iter().map(|record| record.id + 1).max().unwrap_or(1);
        let dir = dir.to_path_buf();
        let mut broker = Broker { wal, topics: BTreeMap::new(), policy, next_id, dir };
        for record in records {
            broker.apply(record);
        }
        Ok(broker)
    }

    pub fn publish(&mut self, topic: &str, payload: &[u8], now_ms: u64) -> Result<u64> {
        if !valid_topic(topic) {
            return Err(Error::BadTopic(topic.to_string()));
        }
        if payload.len() > MAX_PAYLOAD {
            return Err(Error::TooLarge(payload.len()));
        }
        let id = self.next_id;
        self.commit(record(Kind::Publish, id, topic, payload, now_ms))?;
        self.next_id += 1;
        Ok(id)
    }

    pub fn take(&mut self, topic: &str, now_ms: u64) -> Result<Option<(Receipt, Vec<u8>)>> {
        let policy = self.policy.clone();
        Ok(self.queue(topic)?.lease(now_ms, &policy))
    }

    pub fn ack(&mut self, topic: &str, receipt: Receipt, now_ms: u64) -> Result<()> {
        self.queue(topic)?.check(receipt)?;
        self.commit(record(Kind::Ack, receipt.id, topic, &[], now_ms))
    }

    pub fn nack(&mut self, topic: &str, receipt: Receipt, now_ms: u64) -> Result<Fate> {
        let policy = self.policy.clone();
        let fate = self.queue(topic)?.nack(receipt, now_ms, &policy)?;
        if fate == Fate::Dead {
            self.wal.append(&record(Kind::Dead, receipt.id, topic, &[], now_ms))?;
        }
        Ok(fate)
    }

    /// Does what time alone makes due: takes back the leases that ran out.
    pub fn tick(&mut self, now_ms: u64) -> Result<()> {
        let mut died = Vec::new();
        for (topic, queue) in &mut self.topics {
            for id in queue.expire(now_ms, &self.policy) {
                died.push((topic.clone(), id));
            }
        }
        for (topic, id) in died {
            self.wal.append(&record(Kind::Dead, id, &topic, &[], now_ms))?;
        }
        Ok(())
    }

    /// State, attempts so far, attempts left and the delay in ms after the next refusal.
    pub fn inspect(&self, topic: &str, id: u64) -> Result<(&'static str, u32, u32, u64)> {
        let queue = self.topics.get(topic).ok_or_else(|| Error::UnknownTopic(topic.to_string()))?;
        let (state, attempts) = queue.find(id).ok_or(Error::UnknownMessage(id))?;
        let left = self.policy.max_attempts.saturating_sub(attempts);
        let delay_ms = self.policy.backoff_ms * u64::from(attempts + 1);
        Ok((state, attempts, left, delay_ms))
    }

    /// Writes the waiting messages of a topic to a file and returns its path.
    pub fn dump(&self, topic: &str) -> Result<PathBuf> {
        let path = self.dir.join("dumps").join(topic);
        let waiting: Vec<&Message> = self.topics.get(topic).into_iter().flat_map(Queue::waiting).collect();
        let mut text = format!("# {topic}: {} waiting\n", waiting.len());
        for message in waiting {
            let payload = String::from_utf8_lossy(&message.payload);
            text.push_str(&format!("{}\t{}\t{payload}\n", message.id, message.attempts));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text)?;
        Ok(path)
    }

    pub fn compact(&mut self) -> Result<usize> {
        self.wal.compact()
    }

    pub fn stats(&self) -> impl Iterator<Item = (&str, [usize; 4])> {
        self.topics.iter().map(|(topic, queue)| (topic.as_str(), queue.counts()))
    }

    fn commit(&mut self, record: Record) -> Result<()> {
        self.wal.append(&record)?;
        self.apply(record);
        Ok(())
    }

    fn apply(&mut self, record: Record) {
        let queue = self.topics.entry(record.topic).or_default();
        match record.kind {
            Kind::Publish => queue.push(Message { id: record.id, payload: record.payload, attempts: 0 }),
            Kind::Ack => drop(queue.withdraw(record.id)),
            Kind::Dead => queue.bury(record.id),
        }
    }

    fn queue(&mut self, topic: &str) -> Result<&mut Queue> {
        self.topics.get_mut(topic).ok_or_else(|| Error::UnknownTopic(topic.to_string()))
    }
}

fn record(kind: Kind, id: u64, topic: &str, payload: &[u8], time_ms: u64) -> Record {
    Record { kind, id, time_ms, topic: topic.to_string(), payload: payload.to_vec() }
}

fn valid_topic(topic: &str) -> bool {
    topic.len() <= MAX_TOPIC
        && topic.starts_with(|c: char| c.is_ascii_lowercase())
        && topic.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
}
