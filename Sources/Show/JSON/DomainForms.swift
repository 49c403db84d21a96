package import Base

/// The form of domain values in documents for programs.
extension WallTime: JSONDescribed {
    /// In UTC.
    package static var jsonForm: JSONForm<WallTime> { .text(format: "date-time", \.description) }
}

extension OpenTimes.Span: JSONDescribed {
    package static let jsonForm = JSONForm<Self>.object("Opening") {
        JSONForm.Member("opens", \.opens)
        JSONForm.Member("closes", \.closes)
    }
}

extension VehicleID: JSONDescribed {
    package static var jsonForm: JSONForm<VehicleID> { .text(\.text) }
}

extension Serial: JSONDescribed {
    package static var jsonForm: JSONForm<Serial> { .text(\.text) }
}

extension SHA256Digest: JSONDescribed {
    package static var jsonForm: JSONForm<SHA256Digest> { .text(\.description) }
}

extension FirmwareVersion: JSONDescribed {
    package static var jsonForm: JSONForm<FirmwareVersion> { .text(\.description) }
}

extension FailureClass: JSONDescribed {}

extension Outcome: JSONDescribed {
    package static var jsonForm: JSONForm<Outcome> {
        JSONForm.word(of: allCases.map(\.rawValue), \.rawValue).called("Outcome")
    }
}
