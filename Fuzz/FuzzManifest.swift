import Base
import Manifest
import Rollout

/// Reads the input as a manifest whose fleet file is the same input after the first zero byte.
///
/// A trap, a hang or a plan together with an error is a finding; everything else is right.
func fuzzManifest(_ input: [UInt8]) {
    let manifest = Array(input.prefix { $0 != 0 })
    let fleet = Array(input.dropFirst(manifest.count + 1))
    let (list, remarks) = NotifyReader.read(manifest, path: "n.yaml")
    precondition(
        (list == nil) == remarks.contains { $0.severity == .error },
        "a list and an error, or neither"
    )
    guard
        let read = try? ManifestReader.read(
            manifest,
            path: "m.yaml",
            files: { _, _ throws(FileError) in fleet }
        )
    else { return }
    let hasErrors = read.diagnostics.contains { $0.severity == .error }
    precondition((read.plan == nil) == hasErrors, "a plan and an error, or neither")
    // A draft is checked further, with or without errors.
    if let draft = read.draft { _ = JobBuilder(draft).mistakes }
}
