//! One log record: how it is written to a segment and read back.
//!
//! Layout, little endian: length u32, crc u32, then the body that both describe:
//! kind u8, id u64, time u64, topic length u16, topic, payload.

pub const HEADER_LEN: usize = 8;
pub const MAX_PAYLOAD: usize = 64 * 1024;
const FIXED_LEN: usize = 19;
const MAX_BODY: usize = FIXED_LEN + u16::MAX as usize + MAX_PAYLOAD;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Publish = 1,
    Ack = 2,
    Dead = 3,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Kind> {
        [Kind::Publish, Kind::Ack, Kind::Dead].into_iter().find(|&kind| kind as u8 == byte)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: Kind,
    pub id: u64,
    pub time_ms: u64,
    pub topic: String,
    pub payload: Vec<u8>,
}

impl Record {
    pub fn encode(&self) -> Vec<u8> {
        let length = FIXED_LEN + self.topic.len() + self.payload.len();
        let mut bytes = Vec::with_capacity(HEADER_LEN + length);
        bytes.extend_from_slice(&(length as u32).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.extend_from_slice(&self.time_ms.to_le_bytes());
        bytes.extend_from_slice(&(self.topic.len() as u16).to_le_bytes());
        bytes.extend_from_slice(self.topic.as_bytes());
        bytes.extend_from_slice(&self.payload);
        let crc = crc32(&bytes[HEADER_LEN..]);
        bytes[4..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

/// Reads the record that `bytes` begins with; returns it and its length, or none when the bytes are damaged.
pub fn decode(bytes: &[u8]) -> Option<(Record, usize)> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let crc = u32::from_le_bytes(bytes.get(4..HEADER_LEN)?.try_into().ok()?);
    if !(FIXED_LEN..=MAX_BODY).contains(&length) {
        return None;
    }
    let body = bytes.get(HEADER_LEN..HEADER_LEN + length)?;
    if crc32(body) != crc {
        return None;
    }
    let topic_end = FIXED_LEN + u16::from_le_bytes([body[17], body[18]]) as usize;
    let record = Record {
        kind: Kind::from_byte(body[0])?,
        id: u64::from_le_bytes(body[1..9].try_into().ok()?),
        time_ms: u64::from_le_bytes(body[9..17].try_into().ok()?),
        topic: String::from_utf8(body.get(FIXED_LEN..topic_end)?.to_vec()).ok()?,
        payload: body[topic_end..].to_vec(),
    };
    Some((record, HEADER_LEN + length))
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
