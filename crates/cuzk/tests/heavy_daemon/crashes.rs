//! A daemon that is killed at any moment loses no accepted job and makes no result twice.

use std::{collections::BTreeMap, sync::mpsc, time::Duration};

use cuzk_proto::v1::{
    AwaitProofRequest, AwaitProofResponse, SubmitProofResponse, await_proof_response::Status,
    proving_engine_client::ProvingEngineClient,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore as _, SeedableRng as _},
};
use tonic::{Code, transport::Channel};

use super::{
    daemon::{Daemon, Home},
    fixture::Fixture,
};

type Client = ProvingEngineClient<Channel>;

/// One client's view: what it was told, which must stay true.
struct Customer {
    home: Home,
    fixture: Fixture,
    num_jobs: usize,
    jobs: BTreeMap<usize, String>,
    proofs: BTreeMap<usize, Vec<u8>>,
}

#[test]
fn jobs_survive_kills_at_random_points() {
    kill_and_restart(5, 5);
}

#[test]
#[ignore = "a minute and more; the same with fewer kills runs always"]
fn ten_jobs_survive_twenty_kills() {
    kill_and_restart(20, 10);
}

fn kill_and_restart(num_kills: usize, num_jobs: usize) {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let mut customer = Customer {
        home,
        fixture,
        num_jobs,
        jobs: BTreeMap::new(),
        proofs: BTreeMap::new(),
    };
    // Moments of the kills, in milliseconds after the daemon serves: within a few proofs, often within one.
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..num_kills {
        let moment = Duration::from_millis(u64::from(random.next_u32() % 2500));
        customer.visit_until_killed(moment);
    }
    customer.visit_to_the_end();
}

impl Customer {
    fn start(&self) -> Daemon {
        self.home.start(&["--set", "log.level=warn"])
    }

    /// Asks a daemon for everything until it is killed.
    fn visit_until_killed(&mut self, moment: Duration) {
        let daemon = self.start();
        let address = daemon.address().to_owned();
        // Whoever holds the sender is still asking; the timeout is the moment of the kill.
        let (asking, asked) = mpsc::channel::<()>();
        let killer = std::thread::spawn(move || {
            // Where all jobs ended earlier, the kill finds an idle daemon.
            let _ = asked.recv_timeout(moment);
            daemon.kill();
        });
        // What the daemon could not answer any more is asked again on the next visit.
        let _ = self.ask_for_everything(&address);
        drop(asking);
        killer.join().expect("killed");
    }

    fn visit_to_the_end(&mut self) {
        let daemon = self.start();
        self.ask_for_everything(daemon.address())
            .expect("nobody kills this daemon");
        assert_eq!(self.proofs.len(), self.num_jobs);
        for proof in self.proofs.values() {
            self.fixture.verify("winning", proof);
        }
        let mut ids: Vec<&String> = self.jobs.values().collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), self.num_jobs, "two requests share a job");
        daemon.terminate();
        assert!(daemon.wait().success());
    }

    /// Submits every request and awaits every job, comparing with what earlier daemons said.
    fn ask_for_everything(&mut self, address: &str) -> Result<(), tonic::Status> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let uri = format!("http://{address}");
            let client = Client::connect(uri).await;
            let mut client =
                client.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
            for index in 0..self.num_jobs {
                self.submit(&mut client, index).await?;
            }
            for index in 0..self.num_jobs {
                self.await_proof(&mut client, index).await?;
            }
            Ok(())
        })
    }

    async fn submit(&mut self, client: &mut Client, index: usize) -> Result<(), tonic::Status> {
        let message = self.fixture.message("winning", &format!("request-{index}"));
        let answer = client
            .submit_proof(message)
            .await
            .inspect_err(expect_gone)?;
        let SubmitProofResponse { job_id, joined, .. } = answer.into_inner();
        if let Some(known) = self.jobs.get(&index) {
            assert_eq!(&job_id, known, "the request was given another job");
            assert!(joined, "an accepted job was forgotten");
        }
        self.jobs.insert(index, job_id);
        Ok(())
    }

    async fn await_proof(
        &mut self,
        client: &mut Client,
        index: usize,
    ) -> Result<(), tonic::Status> {
        let request = AwaitProofRequest {
            job_id: self.jobs[&index].clone(),
            timeout_ms: 0,
        };
        let answer = client.await_proof(request).await.inspect_err(expect_gone)?;
        let answer: AwaitProofResponse = answer.into_inner();
        assert_eq!(
            answer.status(),
            Status::Completed,
            "{}",
            answer.error_message
        );
        let proof = answer.proof.to_vec();
        if let Some(known) = self.proofs.get(&index) {
            assert_eq!(&proof, known, "a job has two results");
        }
        self.proofs.insert(index, proof);
        Ok(())
    }
}

/// The only error there may be is that the daemon was killed meanwhile.
fn expect_gone(status: &tonic::Status) {
    let gone = [
        Code::Unavailable,
        Code::Unknown,
        Code::Cancelled,
        Code::Internal,
    ];
    assert!(gone.contains(&status.code()), "{status}");
}
