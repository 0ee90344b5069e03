//! An engine in this process: the CPU prover over a folder of keys. `serve` puts a server over it, `demo` a server and a
//! client, `prove` gives it one job, `bench load` many.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_engine::{
    CircuitSource, Engine, EngineParts, EngineSettings, ErrorClass, Event, FilecoinCircuits,
    KeySource, PortError, Provable,
};
use cuzk_groth16::{CpuDevice, CpuSettings, ProverDevice};
use cuzk_r1cs::CompiledCircuit;
use tokio::{runtime::Runtime, sync::broadcast::error::RecvError, task::JoinHandle};

use crate::{
    cards::start_prover,
    circuits::load_or_compile,
    device_choice::{DeviceChoice, DeviceOptions},
    exit::{ExitClass, OrExit as _, failure},
    output::Output,
    progress::Step,
};

/// Threads for connections and timers; proofs have their own.
const CONNECTION_THREADS: usize = 2;

/// The runtime on which an engine lives.
///
/// # Errors
/// Resource, when the system does not start its threads.
pub(crate) fn start_runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(CONNECTION_THREADS)
        .enable_all()
        .build()
        .or_exit(ExitClass::Resource, || "starting the runtime".to_owned())
}

/// What proves.
///
/// # Errors
/// Resource, when the system does not start its threads, or the card cannot be used.
pub(crate) fn start_device(options: DeviceOptions) -> anyhow::Result<Arc<dyn ProverDevice>> {
    match options.choice {
        DeviceChoice::Cuda(ordinal) => start_prover(ordinal, options.memory_limit),
        DeviceChoice::Cpu => {
            let settings = CpuSettings {
                threads: options.threads,
                tail_threads: options.threads,
                ..CpuSettings::default()
            };
            let device = CpuDevice::new(settings)
                .or_exit(ExitClass::Resource, || "starting the prover".to_owned())?;
            Ok(Arc::new(device))
        }
    }
}

/// Starts an engine on the current runtime. Circuits are kept in `folder`, and a person is told when one is compiled.
///
/// # Errors
/// Usage, when a setting is refused.
pub(crate) fn start_engine(
    settings: EngineSettings,
    device: &Arc<dyn ProverDevice>,
    keys: Arc<dyn KeySource>,
    folder: &Path,
    output: &Output,
) -> anyhow::Result<Engine> {
    let circuits = ToldCircuits {
        known: FilecoinCircuits::default(),
        folder: folder.to_owned(),
        output: output.clone(),
    };
    let parts = EngineParts {
        circuits: Arc::new(circuits),
        ..EngineParts::new(vec![Arc::clone(device)], keys)
    };
    Engine::start(settings, parts).or_exit(ExitClass::Usage, || "starting the engine".to_owned())
}

/// Waits for work of an engine, and no longer than it has a device.
///
/// # Errors
/// Device, with what its driver said, when none is left; those of the work.
pub(crate) async fn unless_lost<T>(
    engine: &Engine,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    tokio::select! {
        biased;
        lost = engine.lost() => Err(failure(ExitClass::Device, lost.to_string())),
        done = work => done,
    }
}

/// Circuits whose compilation shows its progress.
struct ToldCircuits {
    known: FilecoinCircuits,
    folder: PathBuf,
    output: Output,
}

impl CircuitSource for ToldCircuits {
    fn decode(&self, request: &ProofRequest) -> Result<Arc<dyn Provable>, PortError> {
        self.known.decode(request)
    }

    fn resident_bytes(&self, circuit: CircuitId) -> u64 {
        self.known.resident_bytes(circuit)
    }

    fn load(&self, circuit: CircuitId) -> Result<Arc<CompiledCircuit>, PortError> {
        let compiled = load_or_compile(&self.folder, circuit, &self.output)
            .map_err(|error| PortError::new(ErrorClass::Internal, format!("{error:#}")))?;
        self.known.keep_layout(circuit, &compiled)?;
        Ok(compiled)
    }

    fn evicted(&self, circuit: CircuitId) {
        self.known.evicted(circuit);
    }
}

/// Names a step after what the engine does, until it is dropped.
pub(crate) struct Shown {
    following: JoinHandle<()>,
}

impl Shown {
    /// Begins to show the engine's work.
    pub(crate) fn start(engine: &Engine, step: Step) -> Self {
        let mut events = engine.subscribe();
        let follow = async move {
            loop {
                match events.recv().await {
                    Ok(stamped) => {
                        if let Event::StepBegan { step: begun } = stamped.event {
                            step.rename(&words(&begun));
                        }
                    }
                    // What was missed is no longer done.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        };
        Self {
            following: tokio::spawn(follow),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.following.abort();
    }
}

fn words(step: &cuzk_engine::Step) -> String {
    let circuit = step.circuit.map_or_else(String::new, |id| format!("{id} "));
    let partition = step
        .partition
        .map_or_else(String::new, |index| format!("partition {index}: "));
    format!("{circuit}{partition}{}", step.stage)
}

#[cfg(test)]
mod tests {
    use cuzk_engine::{JobRequest, Stage};
    use cuzk_testkit::fake::{FakeCircuit, FakeWorld, Fault, FaultKind, request};

    use super::*;
    use crate::exit::class_of;

    #[tokio::test]
    async fn a_job_whose_only_device_is_lost_ends_with_the_words_of_the_driver() {
        let circuit: CircuitId = "winning-2k".parse().expect("a circuit");
        let world = FakeWorld::new(&[FakeCircuit::new(circuit, 1, 1 << 20)]);
        world.script.fail(Fault {
            stage: Stage::Start,
            device: None,
            kind: FaultKind::Lost,
            times: 1,
        });
        let settings = EngineSettings {
            budget_bytes: Some(1 << 30),
            ..EngineSettings::default()
        };
        let engine = Engine::start(settings, world.parts(1)).expect("it starts");
        let request = JobRequest::new(request(circuit, "a sector"));
        let job = engine.submit(request).await.expect("admitted").job;
        let waiting = unless_lost(&engine, async { Ok(engine.wait(job, None).await?) });
        let error = waiting.await.expect_err("no proof");
        assert_eq!(class_of(&error), ExitClass::Device);
        assert!(error.to_string().contains("scripted loss"), "{error}");
    }
}
