//! Who may do what: accounts, their tokens and their grants on topics.

use crate::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    Admin,
}

const LETTERS: [(char, Right); 3] = [('r', Right::Read), ('w', Right::Write), ('a', Right::Admin)];

#[derive(Clone, Debug)]
struct Grant {
    rights: Vec<Right>,
    topic: String,
}

impl Grant {
    fn parse(text: &str) -> Option<Grant> {
        let (letters, topic) = text.split_once(':')?;
        let right = |letter| LETTERS.iter().find(|entry| entry.0 == letter).map(|entry| entry.1);
        Some(Grant { rights: letters.chars().map(right).collect::<Option<_>>()?, topic: topic.to_string() })
    }

    fn covers(&self, right: Right, topic: &str) -> bool {
        self.rights.contains(&right) && (self.topic == "*" || topic.starts_with(&self.topic))
    }
}

#[derive(Clone, Debug)]
pub struct Account {
    pub name: String,
    token: String,
    grants: Vec<Grant>,
}

impl Account {
    pub fn may(&self, right: Right, topic: &str) -> bool {
        self.grants.iter().any(|grant| grant.covers(right, topic))
    }
}

#[derive(Debug, Default)]
pub struct AccessList {
    accounts: Vec<Account>,
}

impl AccessList {
    /// Reads one account a line; empty lines and lines that begin with `#` are skipped.
    pub fn parse(text: &str) -> Result<AccessList> {
        let mut accounts = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_string();
            let token = words.next().ok_or(Error::Syntax("name token grant..."))?.to_string();
            let grants: Option<Vec<_>> = words.map(Grant::parse).collect();
            let grants = grants.ok_or(Error::Syntax("grant is rights:topic"))?;
            accounts.push(Account { name, token, grants });
        }
        Ok(AccessList { accounts })
    }

    pub fn login(&self, token: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.token == token)
    }
}
