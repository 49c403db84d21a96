package import Base
import Store

extension NoticeSender.Result {
    package var isDelivered: Bool { failure == nil }

    /// One line for people.
    package var text: String {
        "\(entry.target): \(failure.map { "not notified: \($0)" } ?? "notified")\n"
    }

    package static func document(_ results: [NoticeSender.Result]) -> JSONValue {
        .object([
            "schema": 1,
            "notices": .array(
                results.map { result in
                    .object([
                        "target": .string(result.entry.target),
                        "kind": .string(result.entry.kind),
                        "delivered": .bool(result.isDelivered),
                        "failure": result.failure.map { .string($0) },
                    ])
                }
            ),
        ])
    }
}
