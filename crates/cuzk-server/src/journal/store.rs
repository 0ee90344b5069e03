//! The rows of the journal.
//!
//! `accepted` holds the jobs without a result, `ended` the results, `requests` the requests that have either. A job moves
//! from the first to the second in one transaction, so it is in exactly one of them whenever the daemon dies.

use std::{
    collections::HashSet,
    fs,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use cuzk_proto::v1::{AwaitProofResponse, SubmitProofRequest};
use prost::Message as _;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::{
    JournalError, Retention,
    retention::{Kept, Shelf},
    spool::Spool,
};

/// Job → order of acceptance, milliseconds since 1970 at which the deadline passes (0 for none), digest of the request,
/// and the terms as an encoded request without content.
const ACCEPTED: TableDefinition<'_, &str, AcceptedRow<'_>> = TableDefinition::new("accepted");
type AcceptedRow<'a> = (u64, u64, &'a [u8; 32], &'a [u8]);
/// Job → milliseconds since 1970 at its end, request id, digest of the request, and the encoded answer.
const ENDED: TableDefinition<'_, &str, EndedRow<'_>> = TableDefinition::new("ended");
type EndedRow<'a> = (u64, &'a str, &'a [u8; 32], &'a [u8]);
/// Id and digest of a request → its job.
const REQUESTS: TableDefinition<'_, (&str, &[u8; 32]), &str> = TableDefinition::new("requests");

const DATABASE_FILE: &str = "journal.redb";
const PAYLOAD_FOLDER: &str = "payloads";

/// Where the journal lies and what it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalSettings {
    /// Its folder, which is made where it is missing.
    pub folder: PathBuf,
    /// Bytes of the disk that payloads leave free, so that results can be written.
    pub reserve_bytes: u64,
    /// Which results are kept.
    pub retention: Retention,
}

/// The journal of one daemon; the database's lock keeps a second one out.
///
/// Its calls wait for the disk: call them where blocking is allowed.
#[derive(Debug)]
pub struct Journal {
    database: Database,
    spool: Spool,
    retention: Retention,
    shelf: Mutex<Shelf>,
    next_order: AtomicU64,
}

/// A job as it is written down.
#[derive(Clone, Debug)]
pub(crate) struct Acceptance {
    /// The engine's id.
    pub(crate) job: String,
    /// The request without terms, encoded.
    pub(crate) content: Bytes,
    /// Its digest.
    pub(crate) digest: [u8; 32],
    /// Priority, tenant and request id, in a request without content.
    pub(crate) terms: SubmitProofRequest,
    /// When the deadline passes, in milliseconds since 1970.
    pub(crate) deadline_unix_ms: Option<u64>,
}

/// A job that was accepted and has no result.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    /// Its id, which it keeps.
    pub(crate) job: String,
    /// Priority, tenant and request id, in a request without content.
    terms: SubmitProofRequest,
    /// When the deadline passes, in milliseconds since 1970.
    pub(crate) deadline_unix_ms: Option<u64>,
}

impl Journal {
    /// Opens or makes a journal and removes what an interrupted write left behind.
    ///
    /// # Errors
    /// When the folder cannot be used, another daemon uses it, or the database is damaged.
    pub fn open(settings: &JournalSettings) -> Result<Self, JournalError> {
        let payloads = settings.folder.join(PAYLOAD_FOLDER);
        let file = settings.folder.join(DATABASE_FILE);
        let open_error = |source| JournalError::Open {
            path: settings.folder.clone(),
            source,
        };
        fs::create_dir_all(&payloads).map_err(|error| open_error(error.into()))?;
        let database = Database::create(&file).map_err(|error| open_error(error.into()))?;
        let transaction = database.begin_write()?;
        transaction.open_table(ACCEPTED)?;
        transaction.open_table(ENDED)?;
        transaction.open_table(REQUESTS)?;
        transaction.commit()?;
        let journal = Self {
            database,
            spool: Spool::new(payloads, settings.reserve_bytes),
            retention: settings.retention,
            shelf: Mutex::default(),
            next_order: AtomicU64::new(1),
        };
        let jobs = journal.accepted_jobs()?;
        journal
            .spool
            .retain(&jobs)
            .map_err(|error| open_error(error.into()))?;
        journal.load_shelf()?;
        journal.forget_surplus()?;
        Ok(journal)
    }

    /// Writes a job down; when this returns, a restart will prove it. A job that is written down stays as it is.
    pub(crate) fn accept(&self, acceptance: &Acceptance) -> Result<(), JournalError> {
        if self.knows(&acceptance.job)? {
            return Ok(());
        }
        self.spool.write(&acceptance.job, &acceptance.content)?;
        let written = self.insert(acceptance);
        if written.is_err() {
            self.spool.remove(&acceptance.job);
        }
        written
    }

    fn knows(&self, job: &str) -> Result<bool, JournalError> {
        let transaction = self.database.begin_read()?;
        let is_accepted = transaction.open_table(ACCEPTED)?.get(job)?.is_some();
        Ok(is_accepted || transaction.open_table(ENDED)?.get(job)?.is_some())
    }

    fn insert(&self, acceptance: &Acceptance) -> Result<(), JournalError> {
        let transaction = self.database.begin_write()?;
        {
            let mut accepted = transaction.open_table(ACCEPTED)?;
            let order = self.next_order.fetch_add(1, Ordering::Relaxed);
            let job = acceptance.job.as_str();
            let deadline = acceptance.deadline_unix_ms.unwrap_or(0);
            let terms = acceptance.terms.encode_to_vec();
            accepted.insert(job, (order, deadline, &acceptance.digest, terms.as_slice()))?;
            let request_id = acceptance.terms.request_id.as_str();
            if !request_id.is_empty() {
                let mut requests = transaction.open_table(REQUESTS)?;
                requests.insert((request_id, &acceptance.digest), job)?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Writes the answer of an accepted job down and forgets its payload. A job that has an answer keeps the one it has.
    pub(crate) fn end(&self, job: &str, answer: &AwaitProofResponse) -> Result<(), JournalError> {
        let ended_unix_ms = unix_ms();
        let encoded = answer.encode_to_vec();
        let transaction = self.database.begin_write()?;
        let Some((request_id, digest)) = take_accepted(&transaction, job)? else {
            return Ok(transaction.abort()?);
        };
        transaction.open_table(ENDED)?.insert(
            job,
            (
                ended_unix_ms,
                request_id.as_str(),
                &digest,
                encoded.as_slice(),
            ),
        )?;
        transaction.commit()?;
        self.spool.remove(job);
        self.shelf().push(Kept {
            job: job.to_owned(),
            ended_unix_ms,
            num_bytes: encoded.len() as u64,
        });
        self.forget_surplus()
    }

    /// The kept answer of a job.
    pub(crate) fn answer(&self, job: &str) -> Result<Option<AwaitProofResponse>, JournalError> {
        let ended = self.database.begin_read()?.open_table(ENDED)?;
        match ended.get(job)? {
            Some(row) => decode_record(job, row.value().3).map(Some),
            None => Ok(None),
        }
    }

    /// The job of a request that was accepted before, if its result is kept or still to come. The digest is asked for
    /// only where the id is known.
    pub(crate) fn job_of(
        &self,
        request_id: &str,
        digest: impl FnOnce() -> [u8; 32],
    ) -> Result<Option<String>, JournalError> {
        let requests = self.database.begin_read()?.open_table(REQUESTS)?;
        let all = (request_id, &[u8::MIN; 32])..=(request_id, &[u8::MAX; 32]);
        if requests.range(all)?.next().is_none() {
            return Ok(None);
        }
        let found = requests.get((request_id, &digest()))?;
        Ok(found.map(|row| row.value().to_owned()))
    }

    /// Accepted jobs without a result, in the order of acceptance.
    pub(crate) fn unfinished(&self) -> Result<Vec<Unfinished>, JournalError> {
        let accepted = self.database.begin_read()?.open_table(ACCEPTED)?;
        let mut found = Vec::new();
        for row in accepted.iter()? {
            let (job, row) = row?;
            let (order, deadline, _, terms) = row.value();
            let job = job.value().to_owned();
            let terms = decode_record(&job, terms)?;
            let deadline_unix_ms = (deadline > 0).then_some(deadline);
            let unfinished = Unfinished {
                job,
                terms,
                deadline_unix_ms,
            };
            found.push((order, unfinished));
        }
        found.sort_by_key(|(order, _)| *order);
        Ok(found.into_iter().map(|(_, job)| job).collect())
    }

    /// The request of an accepted job as the client sent it, but for the deadline. The payload is in memory from here on.
    pub(crate) fn request(
        &self,
        unfinished: &Unfinished,
    ) -> Result<SubmitProofRequest, JournalError> {
        let job = &unfinished.job;
        let content: SubmitProofRequest = decode_bytes(job, self.spool.read(job)?)?;
        Ok(SubmitProofRequest {
            priority: unfinished.terms.priority,
            tenant: unfinished.terms.tenant.clone(),
            ..content
        })
    }

    fn accepted_jobs(&self) -> Result<HashSet<String>, JournalError> {
        let accepted = self.database.begin_read()?.open_table(ACCEPTED)?;
        let mut jobs = HashSet::new();
        for row in accepted.iter()? {
            let (job, row) = row?;
            self.next_order
                .fetch_max(row.value().0 + 1, Ordering::Relaxed);
            jobs.insert(job.value().to_owned());
        }
        Ok(jobs)
    }

    fn load_shelf(&self) -> Result<(), JournalError> {
        let ended = self.database.begin_read()?.open_table(ENDED)?;
        let mut kept = Vec::new();
        for row in ended.iter()? {
            let (job, row) = row?;
            let (ended_unix_ms, .., encoded) = row.value();
            kept.push(Kept {
                job: job.value().to_owned(),
                ended_unix_ms,
                num_bytes: encoded.len() as u64,
            });
        }
        kept.sort_by_key(|kept| kept.ended_unix_ms);
        let mut shelf = self.shelf();
        for result in kept {
            shelf.push(result);
        }
        Ok(())
    }

    fn forget_surplus(&self) -> Result<(), JournalError> {
        let surplus = self.shelf().take_surplus(&self.retention, unix_ms());
        if surplus.is_empty() {
            return Ok(());
        }
        let transaction = self.database.begin_write()?;
        {
            let mut ended = transaction.open_table(ENDED)?;
            let mut requests = transaction.open_table(REQUESTS)?;
            for job in &surplus {
                let removed = ended.remove(job.as_str())?.map(|row| {
                    let (_, request_id, digest, _) = row.value();
                    (request_id.to_owned(), *digest)
                });
                let Some((request_id, digest)) = removed else {
                    continue;
                };
                let request = (request_id.as_str(), &digest);
                let points_here = requests
                    .get(request)?
                    .is_some_and(|row| row.value() == job.as_str());
                if points_here {
                    requests.remove(request)?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        // A shelf is whole between any two of its operations.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn decode_record<M: prost::Message + Default>(job: &str, bytes: &[u8]) -> Result<M, JournalError> {
    decode_bytes(job, Bytes::copy_from_slice(bytes))
}

/// Fields of the message are slices of these bytes.
fn decode_bytes<M: prost::Message + Default>(job: &str, bytes: Bytes) -> Result<M, JournalError> {
    M::decode(bytes).map_err(|error| JournalError::Record {
        job: job.to_owned(),
        source: error.into(),
    })
}

/// Removes a job from those without a result; gives the id and the digest of its request.
fn take_accepted(
    transaction: &redb::WriteTransaction,
    job: &str,
) -> Result<Option<(String, [u8; 32])>, JournalError> {
    let mut accepted = transaction.open_table(ACCEPTED)?;
    let Some(row) = accepted.remove(job)? else {
        return Ok(None);
    };
    let (_, _, digest, terms) = row.value();
    let terms: SubmitProofRequest = decode_record(job, terms)?;
    Ok(Some((terms.request_id, *digest)))
}

/// Milliseconds since 1970 by the system's clock.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
