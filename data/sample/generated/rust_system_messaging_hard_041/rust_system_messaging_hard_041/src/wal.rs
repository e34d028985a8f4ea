//! The log on disk: numbered segments, appended to at the end, removed when nothing needs them.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::record::{decode, Kind, Record};
use crate::{Error, Result};

pub struct Wal {
    dir: PathBuf,
    segment_limit: u64,
    active: File,
    active_number: u64,
    active_len: u64,
    /// Unsettled messages by the segment that holds their publish record.
    live: BTreeMap<u64, usize>,
    /// Segment of the publish record of each unsettled message.
    home: HashMap<u64, u64>,
}

impl Wal {
    /// Opens the log in `dir` and returns it with all its records, oldest first.
    pub fn open(dir: &Path, segment_limit: u64) -> Result<(Wal, Vec<Record>)> {
        fs::create_dir_all(dir)?;
        let numbers = segment_numbers(dir)?;
        let active_number = numbers.last().copied().unwrap_or(1);
        let active = open_segment(dir, active_number)?;
        let active_len = active.metadata()?.len();
        let mut wal = Wal {
            dir: dir.to_path_buf(),
            segment_limit,
            active,
            active_number,
            active_len,
            live: BTreeMap::new(),
            home: HashMap::new(),
        };
        let mut records = Vec::new();
        for number in numbers {
            wal.live.entry(number).or_insert(0);
            let bytes = fs::read(segment_path(dir, number))?;
            let mut offset = 0;
            while offset < bytes.len() {
                match decode(&bytes[offset..]) {
                    Some((record, len)) => {
                        wal.account(&record, number);
                        records.push(record);
                        offset += len;
                    }
                    // A crash in the middle of an append leaves half a record at the end.
                    None if number == active_number => break,
                    None => return Err(Error::Corrupt(number, offset)),
                }
            }
        }
        Ok((wal, records))
    }

    pub fn append(&mut self, record: &Record) -> Result<()> {
        let bytes = record.encode();
        let size = bytes.len() as u64;
        if self.active_len > 0 && self.active_len + size > self.segment_limit {
            self.rotate()?;
        }
        self.active.write_all(&bytes)?;
        self.active_len += size;
        self.account(record, self.active_number);
        Ok(())
    }

    /// Returns when everything appended so far is on stable storage.
    pub fn sync(&mut self) -> Result<()> {
        Ok(self.active.sync_data()?)
    }

    /// Removes the sealed segments that hold no unsettled message; returns how many.
    pub fn compact(&mut self) -> Result<usize> {
        let idle: Vec<u64> = self
            .live
            .iter()
            .filter(|&(&number, &count)| number != self.active_number && count == 0)
            .map(|(&number, _)| number)
            .collect();
        for &number in &idle {
            fs::remove_file(segment_path(&self.dir, number))?;
            self.live.remove(&number);
        }
        Ok(idle.len())
    }

    fn rotate(&mut self) -> Result<()> {
        self.sync()?;
        self.active_number += 1;
        self.active = open_segment(&self.dir, self.active_number)?;
        self.active_len = 0;
        self.live.insert(self.active_number, 0);
        Ok(())
    }

    fn account(&mut self, record: &Record, segment: u64) {
        match record.kind {
            Kind::Publish => {
                *self.live.entry(segment).or_insert(0) += 1;
                self.home.insert(record.id, segment);
            }
            Kind::Ack => {
                if let Some(home) = self.home.remove(&record.id) {
                    if let Some(count) = self.live.get_mut(&home) {
                        *count -= 1;
                    }
                }
            }
            Kind::Dead => {}
        }
    }
}

fn open_segment(dir: &Path, number: u64) -> Result<File> {
    let path = segment_path(dir, number);
    Ok(OpenOptions::new().create(true).append(true).open(path)?)
}

fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:08}.log"))
}

fn segment_numbers(dir: &Path) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        if let Some(Ok(number)) = number.map(str::parse) {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}
