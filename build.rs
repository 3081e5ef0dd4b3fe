//! Gives the shared library its name and makes the C header of our extensions.

use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=src/abi/extension.rs");
    println!("cargo:rerun-if-changed=cbindgen.toml");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpiio_rs.so");

    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/abi/extension.rs"))
        .generate()
        .expect("C header of src/abi/extension.rs")
        .write_to_file(out.join("mpiio_rs.h"));
}
