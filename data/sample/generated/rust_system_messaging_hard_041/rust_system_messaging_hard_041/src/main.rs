//! spoold: serves one client on standard input and output.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use spool::access::AccessList;
use spool::broker::{Broker, SEGMENT_LIMIT};
use spool::protocol::Session;
use spool::queue::Policy;
use spool::{Error, Result};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [data_dir, access_file] => serve(Path::new(data_dir), Path::new(access_file)),
        _ => Err(Error::Syntax("spoold DATA_DIR ACCESS_FILE")),
    };
    if let Err(error) = outcome {
        eprintln!("spoold: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn serve(data_dir: &Path, access_file: &Path) -> Result<()> {
    let access = AccessList::parse(&std::fs::read_to_string(access_file)?)?;
    let mut broker = Broker::open(data_dir, Policy::default(), SEGMENT_LIMIT)?;
    let mut session = Session::new(&access);
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let now_ms = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as u64);
        broker.tick(now_ms)?;
        let answer = session.handle(&mut broker, &line?, now_ms);
        writeln!(out, "{answer}")?;
        if answer == "BYE" {
            break;
        }
    }
    Ok(())
}
