//! Proving keys on the device: what a key file holds comes back byte for byte, and what is no point is found.

use std::{fs, path::Path};

use cuzk_cuda::{CudaError, Device, DeviceKey};
use cuzk_groth16::{OpenOptions, ProvingKey, Section};
use cuzk_testkit::circuits::SmallCircuit;
use cuzk_testkit::keys::{self, TestKey};

use crate::device;

/// Bytes of a key file before the first point of ic.
const HEAD_BYTES: usize = 868;

fn open(path: &Path) -> ProvingKey {
    ProvingKey::open(path, &OpenOptions::default()).unwrap()
}

fn key_of(circuit: &SmallCircuit, folder: &Path) -> TestKey {
    keys::for_small(circuit.blank(), folder)
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_an_uploaded_key_holds_the_bytes_of_its_file() {
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    for (name, circuit) in SmallCircuit::all() {
        let key = open(&key_of(&circuit, folder.path()).params);
        check_upload(&device, &key, name);
    }
    assert_eq!(device.used_memory(), 0);
}

pub(crate) fn check_upload(device: &Device, key: &ProvingKey, name: &str) {
    let uploaded = DeviceKey::upload(device, key).unwrap();
    assert_eq!(uploaded.counts(), key.counts(), "{name}");
    for section in Section::QUERIES {
        let bytes = uploaded.encoded(device, section).unwrap();
        assert_eq!(bytes, key.section_bytes(section), "{name}, {section}");
    }
}

/// Writes the key to a folder after `damage` to the bytes of one section.
pub(crate) fn damaged(
    key: &ProvingKey,
    section: Section,
    damage: impl FnOnce(&mut [u8]),
    folder: &Path,
) -> ProvingKey {
    // The file is mapped as a whole, and ic lies behind the single points.
    let [ic, start] = [Section::Ic, section].map(|it| key.section_bytes(it).as_ptr().addr());
    let first = HEAD_BYTES + (start - ic);
    let mut bytes = fs::read(key.path()).unwrap();
    let len = key.section_bytes(section).len();
    damage(&mut bytes[first..first + len]);
    let path = folder.join("damaged.params");
    fs::write(&path, bytes).unwrap();
    open(&path)
}

/// Uploads the key after `damage` to the bytes of one section.
fn upload_damaged(
    device: &Device,
    key: &ProvingKey,
    section: Section,
    damage: impl FnOnce(&mut [u8]),
) -> Result<DeviceKey, CudaError> {
    let folder = tempfile::tempdir().unwrap();
    DeviceKey::upload(device, &damaged(key, section, damage, folder.path()))
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_bytes_that_are_no_point_are_found_with_their_place() {
    type Damage = fn(&mut [u8], usize);
    let damages: [(&str, Damage); 5] = [
        ("a coordinate off the curve", |bytes, width| {
            bytes[2 * width - 1] ^= 1;
        }),
        ("the flag of a compressed point", |bytes, width| {
            bytes[width] |= 0x80;
        }),
        ("the flag of a root", |bytes, width| bytes[width] |= 0x20),
        ("infinity with coordinates", |bytes, width| {
            bytes[width] |= 0x40;
        }),
        ("a coordinate above the modulus", |bytes, width| {
            bytes[width..width + 48].fill(0xff);
            bytes[width] = 0x1f;
        }),
    ];
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let circuits = SmallCircuit::all();
    let (_, circuit) = circuits.iter().find(|(name, _)| *name == "mimc").unwrap();
    let key = open(&key_of(circuit, folder.path()).params);
    for section in Section::QUERIES {
        for (name, damage) in damages {
            let width = section.point_bytes();
            let uploaded = upload_damaged(&device, &key, section, |bytes| damage(bytes, width));
            let expected = CudaError::BadPoint { section, index: 1 };
            assert_eq!(uploaded.unwrap_err(), expected, "{name}");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_point_at_infinity_in_a_key_is_taken_as_such() {
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let (_, circuit) = &SmallCircuit::all()[12];
    let key = open(&key_of(circuit, folder.path()).params);
    for section in [Section::L, Section::BG2] {
        let width = section.point_bytes();
        let mut expected = key.section_bytes(section).to_vec();
        let to_infinity = |bytes: &mut [u8]| {
            bytes[..width].fill(0);
            bytes[0] = 0x40;
        };
        to_infinity(&mut expected);
        let uploaded = upload_damaged(&device, &key, section, to_infinity).unwrap();
        assert_eq!(uploaded.encoded(&device, section).unwrap(), expected);
    }
}
