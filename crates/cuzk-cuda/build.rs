//! Compiles the kernels with nvcc when the feature `cuda` is on.
//!
//! nvcc is looked for in `CUZK_NVCC`, then on `PATH`, then under `CUDA_HOME` and `CUDA_PATH`. The architectures are
//! those that it offers of [`ARCHITECTURES`], with PTX of the lowest; `CUZK_CUDA_ARCHS=90` (comma separated) narrows
//! them, which makes a development build many times faster. `CUZK_CUDA_ARCHS=none` embeds no kernels and needs no nvcc:
//! enough to check the host half, and no card runs the result.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script is steered by its environment and talks to cargo on standard output"
)]

use std::{
    env,
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

const ARCHITECTURES: [&str; 6] = ["80", "86", "89", "90", "100", "120"];
const SOURCES: [&str; 9] = [
    "rows", "ntt", "sort", "msm_g1", "msm_g2", "bitmap", "points", "fixed", "rates",
];

/// As `CUZK_CUDA_ARCHS`: no kernels at all.
const NO_KERNELS: &str = "none";

const NVCC_HELP: &str = "\
the feature `cuda` needs nvcc 13.0. Either install NVIDIA's CUDA toolkit, or take the compiler alone from PyPI:
    python3 -m venv ~/nvcc
    ~/nvcc/bin/pip install --requirement crates/cuzk-cuda/nvcc-requirements.txt
    export CUZK_NVCC=$(echo ~/nvcc/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
Without the feature everything but the CUDA device builds and runs.";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=CUZK_TARGET={}", required("TARGET"));
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    println!("cargo:rerun-if-changed=kernels");
    for variable in [
        "CUZK_NVCC",
        "CUZK_CUDA_ARCHS",
        "CUDA_HOME",
        "CUDA_PATH",
        "PATH",
    ] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let out = PathBuf::from(required("OUT_DIR"));
    if env::var("CUZK_CUDA_ARCHS").is_ok_and(|list| list.trim() == NO_KERNELS) {
        let empty = out.join(NO_KERNELS);
        embed_nothing(&empty);
        told(&empty, "");
        return;
    }
    let Some(nvcc) = find_nvcc() else {
        fail(NVCC_HELP);
    };
    let architectures = architectures(&nvcc);
    std::thread::scope(|scope| {
        for source in SOURCES {
            scope.spawn(|| compile(&nvcc, &architectures, source, &out));
        }
    });
    told(&out, &architectures.join(","));
}

/// Tells the crate where its images are and what they are for.
fn told(folder: &Path, architectures: &str) {
    println!("cargo:rustc-env=CUZK_KERNELS={}", folder.display());
    println!("cargo:rustc-env=CUZK_CUDA_ARCHITECTURES={architectures}");
}

/// Empty images in a folder of their own, so that compiled ones are kept.
fn embed_nothing(folder: &Path) {
    let images = SOURCES.map(|source| folder.join(format!("{source}.fatbin")));
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        images
            .iter()
            .try_for_each(|image| std::fs::write(image, []))
    });
    if let Err(error) = written {
        fail(&format!("{}: {error}", folder.display()));
    }
}

fn required(variable: &str) -> String {
    env::var(variable).unwrap_or_else(|_| fail(&format!("cargo did not set {variable}")))
}

fn fail(message: &str) -> ! {
    for line in message.lines() {
        println!("cargo:warning={line}");
    }
    std::process::exit(1);
}

fn find_nvcc() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CUZK_NVCC") {
        return Some(PathBuf::from(path));
    }
    let on_path = env::var_os("PATH")
        .map(|paths| env::split_paths(&paths).collect::<Vec<_>>())
        .unwrap_or_default();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os)
        .map(|home: OsString| Path::new(&home).join("bin"));
    on_path
        .into_iter()
        .chain(toolkits)
        .map(|folder| folder.join("nvcc"))
        .find(|candidate| candidate.is_file())
}

fn architectures(nvcc: &Path) -> Vec<String> {
    let output = Command::new(nvcc).arg("--list-gpu-arch").output();
    let offered = match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        Ok(output) => fail(&format!(
            "{} --list-gpu-arch: {}",
            nvcc.display(),
            output.status
        )),
        Err(error) => fail(&format!("{}: {error}\n{NVCC_HELP}", nvcc.display())),
    };
    let is_offered = |arch: &str| {
        offered
            .lines()
            .any(|line| line.trim() == format!("compute_{arch}"))
    };
    let wanted: Vec<String> = match env::var("CUZK_CUDA_ARCHS") {
        Ok(list) => list.split(',').map(|arch| arch.trim().to_owned()).collect(),
        Err(_) => ARCHITECTURES
            .iter()
            .filter(|arch| is_offered(arch))
            .map(ToString::to_string)
            .collect(),
    };
    if let Some(unknown) = wanted.iter().find(|arch| !is_offered(arch)) {
        fail(&format!(
            "CUZK_CUDA_ARCHS names {unknown}, which this nvcc does not offer:\n{offered}"
        ));
    }
    wanted
}

fn compile(nvcc: &Path, architectures: &[String], source: &str, out: &Path) {
    let mut command = Command::new(nvcc);
    command
        .args([
            "-fatbin",
            "-std=c++20",
            "-O3",
            "-DFEATURE_BLS12_381",
            "--compress-mode=size",
        ])
        .arg(format!("-I{}", required("DEP_SPPARK_ROOT")))
        .arg(format!("-I{}", required("DEP_BLST_C_SRC")));
    for arch in architectures {
        command
            .arg("-gencode")
            .arg(format!("arch=compute_{arch},code=sm_{arch}"));
    }
    if let Some(lowest) = architectures.first() {
        command
            .arg("-gencode")
            .arg(format!("arch=compute_{lowest},code=compute_{lowest}"));
    }
    command
        .arg(format!("kernels/{source}.cu"))
        .arg("-o")
        .arg(out.join(format!("{source}.fatbin")));
    // A kernel file takes minutes, so one whose inputs did not change is kept.
    let stamp = format!("{command:?} {:016x}", inputs(source));
    let stamp_path = out.join(format!("{source}.stamp"));
    if std::fs::read_to_string(&stamp_path).is_ok_and(|kept| kept == stamp) {
        return;
    }
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            fail(&format!(
                "{command:?}: {}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        Err(error) => fail(&format!("{}: {error}", nvcc.display())),
    }
    if let Err(error) = std::fs::write(&stamp_path, stamp) {
        fail(&format!("{}: {error}", stamp_path.display()));
    }
}

/// A hash of the kernel file and of the headers beside it that it includes.
fn inputs(source: &str) -> u64 {
    let mut names = vec![format!("{source}.cu")];
    let mut hasher = DefaultHasher::new();
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let contents = match std::fs::read_to_string(Path::new("kernels").join(&name)) {
            Ok(contents) => contents,
            Err(error) => fail(&format!("kernels/{name}: {error}")),
        };
        for line in contents.lines() {
            let Some(included) = line
                .strip_prefix("#include \"")
                .and_then(|rest| rest.strip_suffix('"'))
            else {
                continue;
            };
            if !names.iter().any(|known| known == included) {
                names.push(included.to_owned());
            }
        }
        (name, contents).hash(&mut hasher);
    }
    hasher.finish()
}
