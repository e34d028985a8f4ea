//! The line protocol: one request in, one answer out.

use crate::access::{AccessList, Account, Right};
use crate::broker::Broker;
use crate::queue::{Fate, Receipt};
use crate::{Error, Result};

/// One client's conversation with the broker.
pub struct Session<'a> {
    access: &'a AccessList,
    account: Option<Account>,
}

impl<'a> Session<'a> {
    pub fn new(access: &'a AccessList) -> Session<'a> {
        Session { access, account: None }
    }

    /// Answers one line; never fails, errors are answers too.
    pub fn handle(&mut self, broker: &mut Broker, line: &str, now_ms: u64) -> String {
        self.dispatch(broker, line, now_ms).unwrap_or_else(|error| format!("ERR {error}"))
    }

    fn dispatch(&mut self, broker: &mut Broker, line: &str, now_ms: u64) -> Result<String> {
        let (verb, rest) = split_word(line);
        let (topic, argument) = split_word(rest);
        match verb {
            "QUIT" => return Ok("BYE".to_string()),
            "AUTH" => return self.login(rest),
            _ => self.demand(required(verb), topic)?,
        }
        let receipt = || Receipt::parse(argument).ok_or(Error::Syntax("receipt is id-attempt"));
        Ok(match verb {
            "PUB" => format!("OK {}", broker.publish(topic, argument.as_bytes(), now_ms)?),
            "TAKE" => match broker.take(topic, now_ms)? {
                Some((receipt, payload)) => format!("MSG {receipt} {}", String::from_utf8_lossy(&payload)),
                None => "NONE".to_string(),
            },
            "ACK" => {
                broker.ack(topic, receipt()?, now_ms)?;
                "OK".to_string()
            }
            "NACK" => match broker.nack(topic, receipt()?, now_ms)? {
                Fate::Retry { due_ms } => format!("OK retry-at {due_ms}"),
                Fate::Dead => "OK dead".to_string(),
            },
            "INFO" => {
                let id = argument.parse().map_err(|_| Error::Syntax("INFO topic id"))?;
                let (state, attempts, left, delay_ms) = broker.inspect(topic, id)?;
                format!("OK {state} {attempts} {left} {delay_ms}")
            }
            "DUMP" => format!("OK {}", broker.dump(topic)?.display()),
            "STATS" => {
                broker.stats().fold("OK".to_string(), |answer, (topic, [ready, delayed, leased, dead])| {
                    format!("{answer} {topic}={ready}/{delayed}/{leased}/{dead}")
                })
            }
            "SYNC" => {
                broker.wal.sync()?;
                "OK".to_string()
            }
            "COMPACT" => format!("OK {}", broker.compact()?),
            _ => return Err(Error::Syntax("AUTH PUB TAKE ACK NACK INFO DUMP STATS SYNC COMPACT QUIT")),
        })
    }

    fn login(&mut self, token: &str) -> Result<String> {
        let account = self.access.login(token).ok_or(Error::Denied)?;
        self.account = Some(account.clone());
        Ok(format!("OK {}", account.name))
    }

    fn demand(&self, right: Option<Right>, topic: &str) -> Result<()> {
        let account = self.account.as_ref().ok_or(Error::Denied)?;
        match right {
            Some(right) if !account.may(right, topic) => Err(Error::Denied),
            _ => Ok(()),
        }
    }
}

/// The right that a verb needs on its topic; none means that being logged in is enough.
fn required(verb: &str) -> Option<Right> {
    match verb {
        "PUB" => Some(Right::Write),
        "TAKE" | "ACK" | "NACK" | "INFO" | "DUMP" => Some(Right::Read),
        "COMPACT" => Some(Right::Admin),
        _ => None,
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.trim_start().split_once(' ').unwrap_or((text.trim(), ""))
}
