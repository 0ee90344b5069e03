//! The crate graph points downward: a lower layer never learns of a higher one, and some neighbours never meet.

use std::path::Path;

use super::Finding;
use crate::workspace::{Dependency, Package};

/// The layer of every crate that ships. A crate may depend on crates of lower layers only.
const LAYERS: [(&str, u8); 8] = [
    ("cuzk-proto", 0),
    ("cuzk-r1cs", 1),
    ("cuzk-groth16", 2),
    ("cuzk-circuits", 2),
    ("cuzk-cuda", 3),
    ("cuzk-engine", 4),
    ("cuzk-server", 5),
    ("cuzk", 6),
];

/// Sees every layer, and is seen by tests only.
const TEST_ONLY: &str = "cuzk-testkit";

/// Builds and checks the others; depends on none of them.
const TASKS: &str = "xtask";

/// Crates of other people, or of lower layers, that only the listed members may ship. Tests may compare with any of them.
const RESERVED: [Reserved; 5] = [
    Reserved {
        prefixes: &["filecoin-", "storage-proofs-", "fr32", "neptune"],
        members: &["cuzk-circuits", TEST_ONLY],
        reason: "only the circuits crate knows Filecoin",
    },
    Reserved {
        prefixes: &["bellperson"],
        members: &["cuzk", TEST_ONLY],
        reason: "bellperson is an oracle to compare with, not a part of the engine",
    },
    Reserved {
        prefixes: &["cuzk-cuda", "cudarc", "sppark"],
        members: &["cuzk", "cuzk-cuda", TEST_ONLY],
        reason: "the engine sees devices through `ProverDevice`; the binary chooses them",
    },
    Reserved {
        prefixes: &["cuzk-proto", "tonic", "prost"],
        members: &["cuzk", "cuzk-proto", "cuzk-server", TEST_ONLY],
        reason: "wire types end at the server",
    },
    Reserved {
        prefixes: &["tokio", "futures", "async-"],
        members: &[
            "cuzk",
            "cuzk-engine",
            "cuzk-proto",
            "cuzk-server",
            TEST_ONLY,
        ],
        reason: "only the engine, the server and the binary are async",
    },
];

struct Reserved {
    prefixes: &'static [&'static str],
    members: &'static [&'static str],
    reason: &'static str,
}

/// Finds members without a layer and dependencies that point up, sideways, or where they must not.
pub(super) fn check(packages: &[Package], root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let path = relative_manifest(package, root);
        let finding = |line: usize, message: String| Finding {
            path: path.clone(),
            line,
            message,
        };
        if layer_of(&package.name).is_none() {
            let message = format!(
                "`{}` has no layer; add it to LAYERS in xtask/src/tidy/layers.rs",
                package.name
            );
            findings.push(finding(1, message));
        }
        for dependency in &package.dependencies {
            if let Some(message) = problem(&package.name, dependency) {
                findings.push(finding(line_of(package, &dependency.name), message));
            }
        }
    }
    findings
}

/// The height of a member; `None` where the tables do not name it.
fn layer_of(name: &str) -> Option<u8> {
    match name {
        TEST_ONLY => Some(u8::MAX),
        TASKS => Some(0),
        _ => LAYERS
            .iter()
            .find(|(layered, _)| *layered == name)
            .map(|(_, layer)| *layer),
    }
}

fn problem(member: &str, dependency: &Dependency) -> Option<String> {
    let needed = dependency.name.as_str();
    if needed == TEST_ONLY {
        let message = format!("`{member}` ships `{TEST_ONLY}`; make it a dev-dependency");
        return (!dependency.is_dev()).then_some(message);
    }
    if let (Some(from), Some(to)) = (layer_of(member), layer_of(needed))
        && from <= to
    {
        return Some(format!(
            "`{member}` (layer {from}) depends on `{needed}` (layer {to}); edges point to lower layers only"
        ));
    }
    if dependency.is_dev() {
        return None;
    }
    let reserved = RESERVED.iter().find(|reserved| {
        reserved
            .prefixes
            .iter()
            .any(|prefix| needed.starts_with(prefix))
            && !reserved.members.contains(&member)
    })?;
    Some(format!(
        "`{member}` depends on `{needed}`; {}",
        reserved.reason
    ))
}

fn relative_manifest(package: &Package, root: &Path) -> String {
    let path = package
        .manifest_path
        .strip_prefix(root)
        .unwrap_or(&package.manifest_path);
    path.to_string_lossy().into_owned()
}

/// The first line of the manifest that begins with the dependency's name, or the first line.
fn line_of(package: &Package, dependency: &str) -> usize {
    let manifest = std::fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let is_declaration = |line: &str| {
        line.strip_prefix(dependency)
            .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest
        .lines()
        .position(is_declaration)
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: format!("crates/{name}/Cargo.toml").into(),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency {
                    name: (*name).to_owned(),
                    kind: kind.map(str::to_owned),
                })
                .collect(),
        }
    }

    fn messages(packages: &[Package]) -> Vec<String> {
        check(packages, Path::new(""))
            .into_iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn the_designed_edges_pass() {
        let packages = [
            package("cuzk-r1cs", &[("blstrs", None), (TEST_ONLY, Some("dev"))]),
            package(
                "cuzk-groth16",
                &[("cuzk-r1cs", None), ("bellperson", Some("dev"))],
            ),
            package(
                "cuzk-circuits",
                &[("cuzk-r1cs", None), ("filecoin-proofs", None)],
            ),
            package("cuzk-engine", &[("cuzk-groth16", None), ("tokio", None)]),
            package(
                "cuzk",
                &[
                    ("cuzk-cuda", None),
                    ("cuzk-server", None),
                    ("bellperson", None),
                ],
            ),
            package(TEST_ONLY, &[("cuzk-circuits", None), ("bellperson", None)]),
            package(TASKS, &[("serde", None)]),
        ];
        assert_eq!(messages(&packages), Vec::<String>::new());
    }

    #[test]
    fn an_edge_up_or_sideways_is_found() {
        for (member, needed) in [
            ("cuzk-r1cs", "cuzk-groth16"),
            ("cuzk-circuits", "cuzk-groth16"),
            ("cuzk-groth16", "cuzk"),
            (TASKS, "cuzk-r1cs"),
        ] {
            let found = messages(&[package(member, &[(needed, None)])]);
            assert_eq!(found.len(), 1, "{member} -> {needed}");
            assert!(
                found[0].contains("edges point to lower layers only"),
                "{}",
                found[0]
            );
        }
    }

    #[test]
    fn a_dev_dependency_points_down_too() {
        let found = messages(&[package("cuzk-r1cs", &[("cuzk-groth16", Some("dev"))])]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn the_testkit_never_ships() {
        let found = messages(&[package("cuzk", &[(TEST_ONLY, None)])]);
        assert!(found[0].contains("make it a dev-dependency"), "{found:?}");
    }

    #[test]
    fn a_reserved_crate_in_the_wrong_member_is_found() {
        for (member, needed) in [
            ("cuzk-groth16", "filecoin-proofs"),
            ("cuzk-groth16", "bellperson"),
            ("cuzk-engine", "cuzk-cuda"),
            ("cuzk-engine", "tonic"),
            ("cuzk-circuits", "tokio"),
        ] {
            let found = messages(&[package(member, &[(needed, None)])]);
            assert_eq!(found.len(), 1, "{member} -> {needed}: {found:?}");
        }
    }

    #[test]
    fn a_member_without_a_layer_is_found() {
        let found = messages(&[package("cuzk-extra", &[])]);
        assert!(found[0].contains("has no layer"), "{found:?}");
    }
}
