//! A daemon that other machines can reach knows its clients by their certificates.

use std::{fs, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::daemon::{Home, text};

/// An authority, and certificates that it signed, as files.
struct Certificates {
    authority: PathBuf,
    server: (PathBuf, PathBuf),
    client: (PathBuf, PathBuf),
}

impl Certificates {
    fn new(home: &Home) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("random numbers");
        let authority = CertifiedIssuer::self_signed(params, key).expect("signed");
        let write = |name: &str, content: String| {
            let path = home.path(name);
            fs::write(&path, content).expect("room");
            path
        };
        let signed = |name: &str, hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            let params = CertificateParams::new(hosts).expect("names");
            let key = KeyPair::generate().expect("random numbers");
            let certificate = params.signed_by(&key, &authority).expect("signed");
            (
                write(&format!("{name}.pem"), certificate.pem()),
                write(&format!("{name}.key"), key.serialize_pem()),
            )
        };
        Self {
            server: signed("server", &["localhost", "127.0.0.1"]),
            client: signed("client", &["client"]),
            authority: write("authority.pem", authority.pem()),
        }
    }
}

#[test]
fn beyond_this_machine_only_clients_with_a_certificate_are_served() {
    cuzk_testkit::keys::for_circuit("wpost-2k".parse().expect("a circuit"));
    let home = Home::new();
    let files = Certificates::new(&home);
    let set = |key: &str, path: &PathBuf| format!("tls.{key}={}", text(path));
    let settings = [
        set("certificate", &files.server.0),
        set("key", &files.server.1),
        set("client_ca", &files.authority),
    ];
    let daemon = home.start(&[
        "--listen",
        "0.0.0.0:0",
        "--set",
        &settings[0],
        "--set",
        &settings[1],
        "--set",
        &settings[2],
    ]);
    let (_, port) = daemon.address().rsplit_once(':').expect("a port");
    let address = format!("localhost:{port}");
    let status = |options: &[&str]| {
        let mut command = home.cuzk(&["status", "--json", "--quiet", "--addr", &address]);
        command.args(options).output().expect("the binary starts")
    };
    let known = [
        "--tls-ca",
        text(&files.authority),
        "--tls-certificate",
        text(&files.client.0),
        "--tls-key",
        text(&files.client.1),
    ];
    let served = status(&known);
    assert!(served.status.success(), "{served:?}");
    for stranger in [status(&known[..2]), status(&[])] {
        assert_eq!(stranger.status.code(), Some(7), "{stranger:?}");
        assert!(stranger.stdout.is_empty());
    }
}
