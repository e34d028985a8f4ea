//! The broker from the outside: publish, lease, restart, access.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use spool::access::{AccessList, Right};
use spool::broker::Broker;
use spool::protocol::Session;
use spool::queue::{Fate, Policy};
use spool::Error;

fn data_dir(name: &str) -> PathBuf {
    let dir = Path::new("build").join("data").join(name);
    fs::remove_dir_all(&dir).ok();
    dir
}

fn policy() -> Policy {
    Policy { visibility_ms: 1_000, max_attempts: 3, backoff_ms: 100 }
}

fn open(dir: &Path) -> Broker {
    Broker::open(dir, policy(), 200).unwrap()
}

#[test]
fn messages_come_in_order_and_ack_removes_them() {
    let mut broker = open(&data_dir("order"));
    broker.publish("orders", b"one", 0).unwrap();
    broker.publish("orders", b"two", 0).unwrap();
    let (first, payload) = broker.take("orders", 0).unwrap().unwrap();
    assert_eq!(payload, b"one");
    broker.ack("orders", first, 0).unwrap();
    assert_eq!(broker.take("orders", 0).unwrap().unwrap().1, b"two");
    assert!(broker.take("orders", 0).unwrap().is_none());
}

#[test]
fn expired_lease_is_delivered_again_and_its_receipt_is_stale() {
    let mut broker = open(&data_dir("expiry"));
    broker.publish("orders", b"one", 0).unwrap();
    let (old, _) = broker.take("orders", 0).unwrap().unwrap();
    broker.tick(999).unwrap();
    assert!(broker.take("orders", 999).unwrap().is_none());
    broker.tick(1_000).unwrap();
    let (new, _) = broker.take("orders", 1_000).unwrap().unwrap();
    assert_eq!((old.attempt, new.attempt), (1, 2));
    assert!(matches!(broker.ack("orders", old, 1_000), Err(Error::StaleReceipt)));
    broker.ack("orders", new, 1_000).unwrap();
}

#[test]
fn refused_message_waits_and_dies_after_the_last_attempt() {
    let mut broker = open(&data_dir("refusal"));
    broker.publish("orders", b"one", 0).unwrap();
    for (now_ms, due_ms) in [(0, 100), (100, 300)] {
        let (receipt, _) = broker.take("orders", now_ms).unwrap().unwrap();
        assert_eq!(broker.nack("orders", receipt, now_ms).unwrap(), Fate::Retry { due_ms });
        assert!(broker.take("orders", due_ms - 1).unwrap().is_none());
    }
    let (receipt, _) = broker.take("orders", 300).unwrap().unwrap();
    assert_eq!(broker.nack("orders", receipt, 300).unwrap(), Fate::Dead);
    assert_eq!(broker.stats().next().unwrap().1, [0, 0, 0, 1]);
}

#[test]
fn restart_keeps_what_was_not_acknowledged() {
    let dir = data_dir("restart");
    let mut broker = open(&dir);
    broker.publish("orders", b"one", 0).unwrap();
    broker.publish("orders", b"two", 0).unwrap();
    let (receipt, _) = broker.take("orders", 0).unwrap().unwrap();
    broker.ack("orders", receipt, 0).unwrap();
    drop(broker);
    let mut broker = open(&dir);
    assert_eq!(broker.take("orders", 0).unwrap().unwrap().1, b"two");
    assert_eq!(broker.publish("orders", b"three", 0).unwrap(), 3);
}

#[test]
fn half_a_record_at_the_end_is_ignored() {
    let dir = data_dir("torn");
    let mut broker = open(&dir);
    broker.publish("orders", b"one", 0).unwrap();
    drop(broker);
    let segment = dir.join("segments").join("00000001.log");
    OpenOptions::new().append(true).open(segment).unwrap().write_all(&[40, 0, 0, 0, 9]).unwrap();
    let mut broker = open(&dir);
    assert_eq!(broker.take("orders", 0).unwrap().unwrap().1, b"one");
}

#[test]
fn compaction_removes_settled_segments() {
    let dir = data_dir("compaction");
    let mut broker = open(&dir);
    for _ in 0..12 {
        broker.publish("orders", b"a payload of some length", 0).unwrap();
        let (receipt, _) = broker.take("orders", 0).unwrap().unwrap();
        broker.ack("orders", receipt, 0).unwrap();
    }
    let segments = || fs::read_dir(dir.join("segments")).unwrap().count();
    let before = segments();
    assert_eq!(broker.compact().unwrap(), before - 1);
    assert_eq!(segments(), 1);
}

#[test]
fn grants_limit_topics_and_rights() {
    let access = AccessList::parse("# accounts\nshop t1 rw:orders r:stock\nroot t2 rwa:*\n").unwrap();
    let shop = access.login("t1").unwrap();
    assert!(shop.may(Right::Write, "orders.eu"));
    assert!(shop.may(Right::Read, "stock"));
    assert!(!shop.may(Right::Write, "stock"));
    assert!(!shop.may(Right::Read, "billing"));
    assert!(access.login("t3").is_none());
}

#[test]
fn session_answers_in_the_line_protocol() {
    let access = AccessList::parse("shop t1 rw:orders\n").unwrap();
    let mut broker = open(&data_dir("session"));
    let mut session = Session::new(&access);
    let dialogue = [
        ("PUB orders tea", "ERR denied"),
        ("AUTH t1", "OK shop"),
        ("PUB billing tea", "ERR denied"),
        ("PUB orders a pot of tea", "OK 1"),
        ("INFO orders 1", "OK ready 0 3 100"),
        ("TAKE orders", "MSG 1-1 a pot of tea"),
        ("NACK orders 1-1", "OK retry-at 100"),
        ("TAKE orders", "NONE"),
        ("ACK orders 1-1", "ERR stale-receipt"),
        ("STATS", "OK orders=0/1/0/0"),
    ];
    for (request, answer) in dialogue {
        assert_eq!(session.handle(&mut broker, request, 0), answer, "{request}");
    }
}
