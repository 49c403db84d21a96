import Base
import Families
import Radio

/// Reads any bytes as a profile, and then uses that profile on the same bytes as records,
/// advertisements, and words of a manifest.
func fuzzProfile(_ bytes: [UInt8]) {
    let diagnostics = Diagnostics()
    let profile = Profile.parse(bytes, file: "fuzz.yaml", diagnostics)
    precondition((profile == nil) == diagnostics.hasErrors, "a profile is read, or told why not")
    for diagnostic in diagnostics.list { precondition(diagnostic.place.line >= 1) }
    use(profile ?? Fixed.generic, bytes)
}

private enum Fixed {
    static let generic: Profile = {
        guard let profile = ProfileLibrary.shipped.profile(Profile.generic, of: .comodule) else {
            preconditionFailure("the generic profile is shipped")
        }
        return profile
    }()
}

private func use(_ profile: Profile, _ bytes: [UInt8]) {
    hear(profile, bytes)
    let word = String(decoding: bytes.suffix(24), as: UTF8.self)
    for spec in profile.properties.prefix(50) {
        for length in [bytes.count, 8, 3] {
            if let value = spec.value(in: Array(bytes.suffix(length))) { put(value, spec) }
        }
        if let value = try? spec.value(of: word) {
            precondition((try? spec.check(value)) != nil, "a literal that is taken may be written")
            put(value, spec)
        }
        for comparison in Comparison.allCases {
            guard let test = try? spec.test(comparison, word) else { continue }
            _ = test.holds(for: spec.value(in: Array(bytes.suffix(8))) ?? .unknownState(0))
        }
    }
    for feature in profile.features.prefix(50) {
        if let payload = try? feature.payload(of: word) { precondition(payload.count <= 250) }
    }
}

/// A value that may be written is read from the record as it was put in.
private func put(_ value: PropertyValue, _ spec: PropertySpec) {
    var data = [UInt8](repeating: 0xA5, count: 8)
    guard (try? spec.check(value)) != nil else { return }
    precondition(spec.put(value, into: &data), "what was checked has room")
    precondition(data.count == 8)
    if spec.source == spec.target, let back = spec.value(in: data) {
        switch (value, back) {
        case (.number(let left), .number(let right)):
            precondition(abs(left - right) <= 1e-5 * max(1, abs(left)), "\(left) became \(right)")
        default:
            precondition(value == back, "\(value) became \(back)")
        }
    }
}

private func hear(_ profile: Profile, _ bytes: [UInt8]) {
    let data = Array(bytes.suffix(31))
    var advertisement = Advertisement(peer: Peer(handle: "x"), signal: -60)
    advertisement.name = String(decoding: data, as: UTF8.self)
    advertisement.services = [profile.advertisement?.service].compactMap { $0 }
    for company in [profile.advertisement?.company ?? 0x020F, 0xFFFF] {
        advertisement.manufacturerData = [company: data]
        _ = profile.advertisement?.serial(in: advertisement)
        _ = ProfileLibrary.shipped.recognise(advertisement)
    }
}
