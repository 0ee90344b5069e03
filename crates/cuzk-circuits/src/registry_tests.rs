use super::*;

/// Names and digests as the network publishes them.
const PUBLISHED: [(&str, &str, &str); 19] = [
    (
        "porep-32g",
        "stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
        "6a388072a518cf46ebd661f5cc46900a",
    ),
    (
        "porep-64g",
        "stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
        "1801f8a6e1b00bceb00cc27314bb5ce3",
    ),
    (
        "wpost-32g",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
        "2cf49eb26f1fee94c85781a390ddb4c8",
    ),
    (
        "winning-32g",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
        "d84f79a16fe40e9e25a36e2107bb1ba0",
    ),
    (
        "snap-32g",
        "empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18",
        "1b3cfd761a961543f9eb273e435a06a2",
    ),
    (
        "snap-64g",
        "empty-sector-update-merkletree-poseidon_hasher-8-8-2-102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7",
        "1a392e7b759fb18e036c7559b5ece816",
    ),
    (
        "wpost-64g",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
        "3810b7780ac0e299b22ae70f1f94c9bc",
    ),
    (
        "winning-64g",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
        "2170a91ad5bae22ea61f2ea766630322",
    ),
    (
        "porep-2k",
        "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
        "434fb1338ecfaf0f59256f30dde4968f",
    ),
    (
        "wpost-2k",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
        "7610b9f82bfc88405b7a832b651ce2f6",
    ),
    (
        "winning-2k",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
        "82c88066be968bb550a05e30ff6c2413",
    ),
    (
        "snap-2k",
        "empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
        "311f92a3e75036ced01b1c0025f1fa0c",
    ),
    (
        "porep-8m",
        "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
        "09e612e4eeb7a0eb95679a88404f960c",
    ),
    (
        "snap-8m",
        "empty-sector-update-merkletree-poseidon_hasher-8-0-0-92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63",
        "5aedd2cf3e5c0a15623d56a1b43110ad",
    ),
    (
        "winning-8m",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
        "700171ecf7334e3199437c930676af82",
    ),
    (
        "wpost-8m",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
        "c49499bb76a0762884896f9683403f55",
    ),
    (
        "porep-512m",
        "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
        "6c77597eb91ab936c1cef4cf19eba1b3",
    ),
    (
        "snap-512m",
        "empty-sector-update-merkletree-poseidon_hasher-8-0-0-61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c",
        "c3ad7bb549470b82ad52ed070aebb4f4",
    ),
    (
        "wpost-512m",
        "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
        "1a7d4a9c8a502a497ed92a54366af33f",
    ),
];

fn info(id: &str) -> CircuitInfo {
    id.parse::<CircuitId>().expect("a circuit").info()
}

#[test]
fn key_files_have_the_published_names_and_digests() {
    for (id, name, digest) in PUBLISHED {
        let info = info(id);
        assert_eq!(info.key_file_stem, format!("v28-{name}"), "{id}");
        assert_eq!(info.published_params_digest, Some(digest), "{id}");
    }
    assert_eq!(
        info("porep-32g").published_vk_digest,
        Some("0c7b4aac1c40fdb7eb82bc355b41addf")
    );
}

#[test]
fn every_circuit_has_a_published_key_of_its_own() {
    let stems: std::collections::BTreeSet<_> = CircuitId::all()
        .map(|id| {
            let info = id.info();
            assert!(info.published_params_digest.is_some(), "{id}");
            assert!(info.published_vk_digest.is_some(), "{id}");
            info.key_file_stem
        })
        .collect();
    assert_eq!(stems.len(), 20);
}

#[test]
fn inputs_and_partitions_are_those_that_were_measured() {
    use PartitionRule::{Fixed, Sectors};
    for (id, num_inputs, partitions) in [
        ("porep-2k", 40, Fixed(1)),
        ("porep-8m", 40, Fixed(1)),
        ("porep-512m", 40, Fixed(1)),
        ("porep-32g", 328, Fixed(10)),
        ("porep-64g", 328, Fixed(10)),
        ("winning-2k", 133, Fixed(1)),
        ("winning-32g", 133, Fixed(1)),
        ("wpost-2k", 23, Sectors { per_partition: 2 }),
        (
            "wpost-32g",
            25_840,
            Sectors {
                per_partition: 2349,
            },
        ),
        ("snap-2k", 5, Fixed(1)),
        ("snap-32g", 5, Fixed(16)),
    ] {
        let info = info(id);
        assert_eq!(info.num_inputs, num_inputs, "{id}");
        assert_eq!(info.partitions, partitions, "{id}");
    }
}

#[test]
fn window_partitions_follow_the_number_of_sectors() {
    let rule = PartitionRule::Sectors {
        per_partition: 2349,
    };
    assert_eq!(rule.num_partitions(1), 1);
    assert_eq!(rule.num_partitions(2349), 1);
    assert_eq!(rule.num_partitions(2350), 2);
}

#[test]
fn the_sources_of_circuits_are_the_locked_versions() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"))
        .expect("the workspace has a lock file");
    for source in CIRCUIT_SOURCES.split(", ") {
        let (name, version) = source.split_once(' ').expect("a name and a version");
        let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&package), "{source} is not what is locked");
    }
}
