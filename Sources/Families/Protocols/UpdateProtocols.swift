package import Radio

/// All update protocols, one line each.
extension UpdateProtocol {
    package static let secureDFU = Self("secure-dfu", title: "Secure DFU")
    package static let legacyDFU = Self("legacy-dfu", title: "legacy DFU")
    package static let smp = Self("smp", title: "SMP", tellsVersion: true)
}
